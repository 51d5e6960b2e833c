"""Words that begin sentences without being names, and how to tell them: what a capital says nothing of.

Those that were written down for it, and the words that stand in lower case in at least one of 800 abstracts of arXiv of 2025
(metadata CC0) and, inside sentences, hardly ever with a capital.
"""

import re

from bot.summarise.llm.number_words import NUMBERS

_WORDS = """
    a ablations about above absent abstractions abundant academia academic accelerate accent access accommodate
    accomplish account accumulate accuracy accurate achieve acoustic acquire acquisitions across actions activate
    activations adapt adaptations add address adds adequate adhere adjacent adjust adopt adults advent advice advocate
    affect after against aggregate aid aim akin albeit algebraic algorithm algorithmic algorithms align all alleviate
    allocate allow almost alone along alongside already also alter alterations although always among amount amplify
    amplitude an analogy analyse analysis analyze ancient and animations anime annotate annotations annotator another
    antenna anticipate any apart apparent appear applications apply approach approaches appropriate approx approximate
    arbitrary architecture are areas argue arise arm around array art artefacts article artifacts artistic as ask aspect
    assess asset assign associate associations assume assumptions at attacks attain attempt attend attentions
    attributions auditory augmentations authentic authors authorship automate automatic avatars avenue avoid away
    backbone backdoor background bands bandwidth based baseline basis because become been before begin begun behavior
    behaviour behind beliefs believe below benchmark benchmarks benefit benign best better between beyond billion
    biomarker biometric bit blends blood blurry body boost both bottlenecks bounds brand break breakthrough brings
    brittle broad broadcast broader brought budget build buildings builds built burden but by bypass calculate
    calculations calibrate calls camera can candidate cannot captions capture carbon cardiac carry case catalyze
    catastrophic categorize cause cells certain chains characteristics characterize charts chatbots check child children
    choose chosen chunks circumvent cite claim clarify classic classifications classify classroom clean clear clearer
    clicks client clinician clips close closer cloud clutter coarse code codebase codecs coherent cohorts collaborate
    collect collections collisions colonoscopy color column combat combinations combine come comfort commands common
    communicate communications compact compare comparisons compensate complementary complete completions complex
    compliant complicate compose compositions compress compromise computations compute concentrate concepts concerns
    concise conclude conclusions concrete conditions conduct configurations confirm conflicts conform connections
    connects consider considerations consist consistent consolidate constant constitute constrain construct
    constructions consumer contain contemporary content contexts continue contours contradictions contradictory contrary
    contrast contribute contributions controls converge conversations convert convex convey cope copyright core
    cornerstone corpora correct corrections correlate correlations correspond corruptions cost could counter
    counterfactuals counterpart country couple course cover coverage covert create crisis crops curate current curvature
    cuts data dataset datasets date days decade decisions decline decompose decouple decrease deep deeper default defect
    deficiency define definitions deformations deg degradations degrade degree delays deliver delivery delve demand demo
    demographic demonstrate demonstrations depend dependent deploy depths describe descriptions design desktop despite
    details detect detections determine develop deviate deviations devise diagnose diagnostic dialects did differ
    different differentiate difficult difficulty diffuse dilemmas dimensions directions discard discern discharge
    disconnect discover discuss discussions disentangle display disrupt disruptions distant distill distinct
    distinctions distinguish distort distortions distributions diverge diverse divide do does domains dominant dominate
    don done door dose down downstream dramatic draw drawbacks drawings drawn drift driven drop due during dynamic each
    earlier ease easier economic ecosystem edits effect efficacy efficiency efficient effort either elaborate elicit
    eliminate ell embeddings embeds emerge emergent emotions empathetic emphasize empirical employ empower emulate
    enable encode encompass encounter encourage end end-to-end endow enforce engage engineers enrich ensure entire entry
    episodic epochs equip equivariant establish estimate estimations evade evaluate evaluations even ever every everyday
    evident evolve exacerbate examinations examine example exceeds excel excellent exemplars exhibit exist existing
    exocentric expand expect expectations expense experiments expertise explain explicit exploit exploratory explore
    expose expressions extend extensions extent extract extrinsic facilitate factor facts fail fails failure fall falter
    familiar far fashion fast fault favor feedforward female few few-shot fewer file fills find findings finds finer
    finetune first fit flag flat flaws flood floor fluctuations fluency fluent focus fold follow font footage footnote
    footprint for foreground forensic form formalism formalize format formulas formulate formulations foster found fps
    fracture fragile framework fraud frequent from front frontier frozen fruit full fully functions further future gain
    gameplay gap gauge gaze gender general generalize generate generations generic genuine geographic geometric geometry
    get git given gives good govern grammar grayscale great greater grids ground groundwork groups grow grown growth
    guarantee guide had half hallucinate hallucinations hand handle harder hardware harms has have haze heads healthy
    heatmaps height held help helps hence here heritage heuristics high higher highest highlight hinder histopathology
    history hold honesty hope horizon hospitals hour how however http huge huggingface human humanoid humans hundreds
    hyperparameter hypothesize ideas identify if ignore illustrate image imagery images immediate immense impact impede
    imperfect implementations implications important impose imprecise improve in inaccurate inadequate inappropriate
    include incomplete inconsistent incorporate incorrect increase incur indicate individuals indoor induce inefficiency
    inefficient infer inferior inform infrastructure inherent inherit initialize inject inner innovations input inside
    insight inspections inspire instantiate instead institutions instructions insufficient integrate interact
    interactions interdependent interests intermediate internalize interplay interpret interpretations intersections
    intervals interventions into intricate intrinsic introduce investigate investigations invoke involve irregular
    irrelevant is isolate issue it iterations its itself jailbreak just justifications justify keep key keyframe keyword
    kind kinematic known labor lack lag landscape lane language large large-scale larger largest latency later latest
    latter laws lay layouts lead leakage learn learning least length lengthy lesions less lets leverage lightweight like
    likelihood limit limitations line linguistic link list literary literature little liver localize locate locations
    log logistics logits longer loops lose lossy lost lot low lower lowest made magnitude main mainstream maintain major
    make makes male mammograms manage manifest manifolds manipulate manipulations manner many mappings maps margins
    masks mathbb mathbf mathrm matter maximize may meanings means measure mechanism media meet memorize mentions mere
    merits message metadata method methodology methods metric microscopic might milestone military million mimic minima
    minimize minor minute misclassifications mislead mismatch miss missions misuse mitigate model models modern modest
    modifications modify modulate molecular monolithic months more morphology most motions motivate mouse move much
    multi-task multiple must narrow nature navigate near nearby necessary necessitate needs neglect neither network
    networks neuron new newer no node noise noisy none nor norm normals not nouns novel now nuclear nuclei number
    numeric objects obscure observations observe obstacle obtain occlusions occur ocular offer offline often older on
    onboard oncology one one-shot only onto opaque open-source opens operate operationalize operations opinions optics
    optimise optimizations optimize or order org organ organic organizations organize orientations other otherwise our
    out outcome outdoor outline outperform output outside over overall overcome overconfident overfit overhead overlap
    overlook oversight overview own package paid pairs pandemic panoramic paper par paradigm parameter paramount
    paraphrase parent parse particular partitions parts past pathologists pathology paths pathway patterns pave peaks
    pedestrians pediatric peer people per percent perceptions perfect perform period persist persistent pertinent
    perturbations phenomena phenomenon philosophy phone photographic photography photometric photorealistic physicians
    piece pilot pinpoint pipeline pitch pitfalls place plans platforms play player plots plus poetry pool poor popular
    populations portions pose posit positions possess post posture power practical practice pragmatic precise predicate
    predict predictions predominant prefer preliminary premise prerequisite present preserve pretext pretrain prevalent
    prevent previous primary print prior priori prioritize privacy private probe problem problematic problems process
    produce professionals profound prognosis progress projections projects prominent promise promote prompts prone proof
    propagate proper property proposals propose proprietary protect protein protocols prove proven provide proxy prune
    psychology public publications pursue push quantify questions quite radiologists raise range rankings ranks rapid
    rare rather ratings ratios raw rays reach reactions real-world realism realistic realize realm reason recent recipe
    recognize recommend recommendations reconstruct reconstructions recordings recover reduce reductions redundancy
    redundant refer refine reflect reflections reformulate reframe refusals regard regime regions regularize regulate
    regulations reinforce relate relations relationship release relevant remain remove render renderings replace
    replicate reports represent representations reproduce requests require research researchers resemble residuals
    resilient resolutions resolve resource respect respiratory respond rest restore restrict restrictions result results
    retain retrieve returns reuse reveals reviews revisions revisit rho rice rich richer right rightarrow rigid rise
    risks roadmap roads robotic robots robust role rollouts room rotations rubrics run runs runtime safeguard safer
    safety salient same sarcasm satellite satisfactory satisfy save savings scale scans scarce scenario schemas scheme
    scientific scientists scope scratch screen scripts second secondary sections sector seeds seek seem seen
    segmentations select self-supervised semantic semi-supervised sensor sensory separate serve server sessions sets
    settings setup several severe shadows shallow shape share sharper shifts short shortage shortcomings shortcuts
    shorter shots should show showcase shown shows side signals significant signs similar simple simpler simplistic
    simulate simulations since single situations size skills skin slang slight slots slower smaller smallest snippets so
    soccer software soil solid solutions solve some soon source spacecraft span specific specifications specify spectra
    speeds speedup splits sports stabilize standalone standard stands starts state-of-the-art static statistics status
    steer stem step still stimuli stimulus stochastic storage store straightforward strategic strategy stream streamline
    strength strengthen stress strict stringent strong stronger strongest struggle student study stylistic subgraphs
    subject submissions subsequent subset substitute subtasks subtle success such suffer sufficiency sufficient suggest
    suggestions sum summarize summary superior supervise support suppress surge surgery surpass surroundings surveys
    symbols symmetry symptom syntactic synthesize synthetic system systematic systemic systems tackle tags tail take
    taken target task tasks taxonomic teach teams technique teeth tend tendency tens term terms terrain tests text
    textsc texttt texture than thanks that the their them thematic then theoretical theory therapeutic therapy there
    thereby therefore these they third this thorough those though thousands threat three thresholds through throughout
    throughput thus tight time timestamps timesteps tissue to today together tokenizer tokens too tool tooth topics
    toward towards trace tracks trade tradeoff train traits transcriptions transcripts transfer transformations
    transforms transient transitions translations transparency transparent treat trends triplets trustworthy try tumor
    tumour tune turns two type uncertain uncertainty unclear uncover under undergo underline undermine underperform
    underscore understand understood underwater unfamiliar uniform unify unique unlike unlock unnecessary unrealistic
    unsafe unsatisfactory unseen until update upon urgent usage use user users uses using utilize valid validate variant
    variations variety various vary vascular vast verbose verify versa versions versus vertex very via vice video view
    viewpoint violate violations visualizations visualize visuals volume volumetric wall was waste water watermark way
    we weak weakens weaker website weights well were what when where whereas wherein whether which while who whose why
    wide wider widespread width wildfire wildlife will wind with within without words work workflows workload worlds
    worldwide worse would write written wrong www year yet yield zero-shot
"""
_OPENERS = frozenset(_WORDS.split())
_ORDINARY_ENDING = re.compile(
    r"(?:ing|ed|es|ly|al|ive|ous|[ts]ion|ity|ment|[ai]ble|ful|less|ers|ors|[ae]nce|ness|ems|els|rks|nts)$"
)


def opens(word: str) -> bool:
    """Say whether a word in lower case is an ordinary one, and no name, where a sentence begins with it."""
    return (
        word in _OPENERS
        or word in NUMBERS
        or (word.endswith("s") and word[:-1] in _OPENERS)
        or _ORDINARY_ENDING.search(word) is not None
    )


def is_listed(word: str) -> bool:
    """Say whether a word in lower case is one of the listed ordinary words."""
    return word in _OPENERS
