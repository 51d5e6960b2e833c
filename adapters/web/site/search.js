(() => {
  const form = document.querySelector("form.find");
  const found = document.getElementById("found");
  let last = form.q.value.trim(), timer = 0, asked = null;
  async function look() {
    const typed = form.q.value.trim();
    if (typed === last || !typed) return;
    last = typed;
    if (asked) asked.abort();
    asked = new AbortController();
    const url = new URL(form.action);
    url.searchParams.set("q", typed);
    try {
      const answer = await fetch(url, {signal: asked.signal, redirect: "error"});
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("found");
      if (!page) return;
      found.replaceChildren(...page.childNodes);
      document.getElementById("heard").textContent = found.querySelector("h2").textContent;
      history.replaceState(null, "", url);
    } catch { /* the button still works */ }
  }
  form.q.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 300);
  });
})();
