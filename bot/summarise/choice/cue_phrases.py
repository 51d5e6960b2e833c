"""The words by which a sentence of an abstract shows what it is for: a name and a pattern for each kind of wording.

The patterns were chosen by reading abstracts; what each kind says for each part of a summary is learned
(`training/parts.py`). They are tried on a sentence in lower case.
"""

import re

_PATTERNS = {
    "gap": r"\b(?:however|but|although|while|yet|nevertheless|unfortunately|despite|whereas)\b",
    "lack": (
        r"\b(?:lacks?|lacking|limit(?:s|ed|ation|ations)?|fail(?:s|ed|ure)?|suffers?|difficult(?:y|ies)?|cannot|"
        r"unable|little|few|rarely|ignor\w+|neglect\w*|underexplored|insufficient|costly|expensive|inefficient|hard)\b"
    ),
    "challenge": r"\b(?:challeng\w+|problems?|issues?|bottlenecks?|trade-?offs?|obstacles?|remains?|open question)\b",
    "prior": (
        r"\b(?:existing|previous|prior|traditional|conventional|current|earlier|typically|commonly|recent(?:ly)?|"
        r"most)\b"
    ),
    "paper": (
        r"\b(?:in )?(?:this|our|the (?:present|current)) (?:paper|work|article|study|thesis|report|letter|chapter|survey)\b|"
        r"\bhere,? we\b"
    ),
    "we_propose": (
        r"\b(?:we|authors?|paper|article|work) (?:\w+ly |further |then |also |first |thus )?(?:propos\w+|introduc\w+|"
        r"present\w*|develop\w*|design\w*|describ\w+|devis\w+|contribut\w+|offer\w*)\b"
    ),
    "question": r"\?$|\b(?:whether|how to|research questions?|hypothes\w+)\b",
    "we": r"\b(?:we|our|us)\b",
    "show": (
        r"\b(?:results?|findings?|we (?:\w+ )?(?:show|find|found|demonstrate|observe|prove|conclude)\w*|shows?|shown|"
        r"showed|demonstrat\w+|indicat\w+|reveal\w*|suggest\w*|confirm\w*|found that|observed)\b"
    ),
    "better": (
        r"\b(?:outperform\w*|improv\w+|achiev\w+|better|superior(?:ity)?|state-of-the-art|reduc\w+|"
        r"increas\w+|faster|speed-?ups?|accura\w+|significant(?:ly)?|effective(?:ly|ness)?|higher|lower|competitive|gains?|surpass\w*|"
        r"exceed\w*)\b"
    ),
    "figure": r"\d\s?(?:%|×|x\b|percent|per cent|points?|fold|times|ms|bits?\b)|\bp\s?[<=]\s?0?\.\d",
    "implication": (
        r"\b(?:implications?|conclu(?:de|sion|sions)|future (?:work|research)|paves?|opens?|enabl\w+|insights?|"
        r"potential|can be (?:used|applied)|allow(?:s|ing)?|provid\w+ (?:a|an|insight\w*|evidence)|guidelines?|"
        r"recommend\w*|promising|contribut\w+ to)\b"
    ),
    "availability": (
        r"https?://|\b(?:available (?:at|from|online|under)|publicly available|open[- ]sourc\w+|released?|source code|"
        r"code is)\b"
    ),
    "anaphor": r"^(?:this|these|it|such|they|the (?:proposed|resulting|method|approach|system|model|algorithm|framework))\b",
    "copyright": r"©|\(c\) \d{4}|copyright|all rights reserved|elsevier|springer|\bieee\b.*\d{4}|published by",
    "need": (
        r"\b(?:without|no (?:single|standard|existing|one)|beyond|costs?|overheads?|latency|bound|constrain\w+|"
        r"degrad\w+|untenable|gap|barely|not (?:yet|well|fully)|never|poor(?:ly)?|severe\w*|slow|prohibitive\w*|"
        r"blocked|hinder\w*|stochastic|unconstrained|complex|overlook\w*|miss(?:es|ing)|struggl\w+|imbalance)\b"
    ),
    "introduces": (
        r"\b(?:we|paper|work|article|study|authors?) (?:\w+ly |further |then |also |first |thus |"
        r"hereby )?(?:propos\w+|introduc\w+|present\w*|develop\w*|design\w*|devis\w+|build|built|creat\w+|describ\w+|"
        r"investigat\w+|stud(?:y|ies)|analy[sz]\w+|explor\w+|examin\w+|evaluat\w+|argu\w+|formulat\w+|address\w*|"
        r"consider\w*|provid\w+|offer\w*|releas\w+|survey\w*|review\w*|compar\w+|show how|us(?:e|ed)|conduct\w*|"
        r"perform\w*|appl(?:y|ied))\b"
    ),
    "is a": (
        r"^(?:\w*[a-z][\w+-]*)(?: \([^)]*\))? is an? .{0,60}\b(?:framework|system|method|library|data ?set|benchmark|"
        r"tool|model|algorithm|architecture|platform|toolkit|language|compiler|protocol|approach|technique|agent|"
        r"simulator)\b"
    ),
    "further": (
        r"\b(?:we|work|paper) (?:further|also|additionally|then|finally)\b|^(?:further|additionally|moreover|"
        r"finally)\b"
    ),
    "mechanics": (
        r"\b(?:decompos\w+|predict(?:s|ing)|emulat\w+|consists|comprises|employs|uses|leverages|exploits|introduces|"
        r"maps|adapts|learns|encodes|selects|computes|combines|integrates|relies on|works by|by \w+ing)\b"
    ),
    "makes possible": (
        r"\b(?:enabl(?:es?|ing)|allow(?:s|ing)?|mak(?:es?|ing) (?:it|them|\w+) (?:possible|easier|easy|practical|feasible|"
        r"straightforward|suitable|accessible)|opens? (?:up |the )?|paves?|facilitat\w+|help(?:s|ing)?|supports?|can be "
        r"(?:used|applied|deployed|extended)|serves? as|useful|practical(?:ly)?|applicab\w+)\b"
    ),
    "means": (
        r"\b(?:implications?|suggest(?:s|ing)?|highlight(?:s|ing)?|underscor\w+|indicat(?:es?|ing)|insights?|potential|"
        r"importan(?:t|ce)|promising|future|guid(?:e|ance|elines?)|towards?|outlines?|shift|necessity|foundation|"
        r"first (?:step|time)|new (?:direction|research|perspective|avenue|paradigm|view)s?|advances?|advanc(?:ing|ement)|"
        r"broad\w*|general(?:i[sz]\w+|ity)|roadmap|blueprint|baseline for|alternative to|solution for|motivat\w+)\b"
    ),
    "spares": (
        r"\b(?:without|no|eliminat\w+|avoid\w*|requir\w+ (?:no|neither)|removes?) (?:the need|need|requiring|relying|any|"
        r"additional|extra|per-|re-?training|fine-?tuning|tuning|annotat|manual|expensive|costly|specific|task-|sacrific\w+)"
    ),
    "handy": (
        r"\b(?:compatib\w+|plug-and-play|plug-in|orthogonal to|general\w+ (?:to|across|well)|extend(?:s|ed)? to|"
        r"scal(?:es?|able)|real-time|real-world|low-cost|low-power|consumer|edge devices?|deploy\w+|interpretab\w+|"
        r"training-free|agnostic|reliable|trustworthy|accessible|flexib\w+)\b"
    ),
    "hopes": r"\bwe (?:hope|believe|envision|expect|anticipate|aim to|argue that|discuss (?:the )?implications)\b",
    "gives": (
        r"\b(?:provides?|offers?|delivers?|contribut\w+|demonstrates?|without sacrificing|room to|flexible|scalable|"
        r"reproducible|deploy\w*|productivity|hardware-agnostic|trade-?off)\b"
    ),
    "changes": (
        r"\b(?:without sacrificing|room to|paradigm shift|research direction|paves? the way|opens? (?:up )?(?:a|new|"
        r"the))\b"
    ),
    "dangling": (
        r"^(?:(?:however|moreover|furthermore|also|but|and|thus|therefore|hence|in addition|additionally|yet|"
        r"on the other hand),? )?(?:all |both |each of )?(?:this(?! (?:paper|work|study|article|survey|thesis))|these|"
        r"those|it|they|such|both|its|their|here|instead|as a result|the former)\b|^(?:on the other hand|"
        r"for (?:example|instance))\b"
    ),
    "purpose": r"^(?:in order )?to \w+ ",
    "wins": (
        r"\b(?:our|proposed|the) (?:[\w-]+ ){0,3}(?:outperform|achiev|surpass|improv|reduc|exceed|yield|obtain|reach|"
        r"attain|deliver)\w*|\b(?:outperform|surpass|exceed)\w*"
    ),
    "sums up": r"\b(?:overall|in (?:summary|conclusion)|(?:these|our) (?:results|findings|insights)|(?:this|our) work)\b",
    # What the kinds above leave alike: praise and lack, what was tried and what was found, what was found and what it helps.
    "praise": (
        r"\b(?:remarkable|impressive|great|significant|substantial|tremendous|rapid(?:ly)?|growing|widespread|"
        r"unprecedented|strong|notable|considerable) (?:\w+ ){0,2}(?:success\w*|progress|performance|advance(?:s|ments?)|"
        r"attention|capabilit\w+|potential|interest|popularity|growth|development|evolution|adoption)\b|"
        r"\bplay(?:s|ing)? an? \w+ role|\b(?:is|are) (?:an? )?(?:\w+ )?(?:key|core|cornerstone|fundamental|central|crucial|"
        r"vital|essential|pivotal|important|powerful|popular) (?:role|component|task|tool|step|part|building|technique|"
        r"topic|strategy|for|to|in)\b"
    ),
    "matters": (
        r"\b(?:is|are|become|becoming|remains?) (?:an? |the |of )?(?:\w+ )?(?:critical|crucial|essential|vital|important|"
        r"fundamental|key|central|pivotal|necessary|indispensable|popular|standard|dominant|powerful|promising|attractive|"
        r"interesting|widely \w+|paramount|importance)\b"
    ),
    "promise": (
        r"\b(?:promis\w+|leap|paradigms?|breakthroughs?|emerg\w+|revolutioni[sz]\w+|rise of|advent|success of|transform\w+|"
        r"growing|recent(?:ly)?)\b"
    ),
    "wanted": r"\b(?:necessary|desirable|pressing|urgent|demand\w*|need\w*|calls? for|requires?)\b",
    "goes wrong": (
        r"\b(?:under-?\w+(?:ed|ing)|mismatch|tension|leak\w*|hallucinat\w*|bias\w*|errors?|brittle|vulnerab\w+|unreliab\w+|"
        r"inconsisten\w+|instabilit\w+|heavy|large amounts?|labor\w*|time-consuming|scal\w+ poorly|sensitive)\b"
    ),
    "open": (
        r"\b(?:remain(?:s|ed|ing)?|is|are|been) (?:\w+ ){0,3}(?:challenging|unclear|unknown|open|elusive|un\w*explored|"
        r"under-?\w+|limited|scarce|difficult|lacking|absent|unresolved|a (?:\w+ )?challenge|missing|unsolved|inadequate|"
        r"insufficient)\b"
    ),
    "others fail": (
        r"\b(?:existing|current|prior|previous|most|traditional|conventional|these|such|recent|standard|many) "
        r"(?:[\w-]+ ){0,4}(?:methods?|approaches|models?|works?|techniques|systems|studies|benchmarks?|data ?sets|solutions|"
        r"algorithms|research|literature|frameworks|evaluations?|paradigms|metrics|tools|strategies)\b.*\b(?:fail\w*|"
        r"struggle\w*|rely|relies|focus\w*|ignor\w+|requir\w+|suffer\w*|assum\w+|treat\w*|neglect\w*|overlook\w*|lack\w*|"
        r"often|cannot|do not|limit\w*|typically|either|only|mainly|primarily)\b"
    ),
    "tests": (
        r"^(?!.*\b(?:show\w*|demonstrat\w+|outperform\w*|achiev\w+|reveal\w*|find(?:s|ing|ings)?|found|improv\w+|"
        r"confirm\w*|indicat\w+|suggest\w*|reduc\w+|observe\w*|prove\w*|exhibit\w*|yield\w*|surpass\w*|better|superior\w*|"
        r"effective\w*)\b).*\b(?:evaluat\w+|conduct\w*|compar(?:e|ed|ing|isons?)|benchmark(?:ed|ing)?|validat\w+|tested|"
        r"assess\w*|experiments?)\b"
    ),
    "results are given": (
        r"\b(?:results?|findings?|experiments?|simulations?|evaluations?|comparisons?|stud(?:y|ies)|examples?|baselines?|"
        r"challenges|limitations|implications)\b(?: [\w-]+){0,6} (?:are|is|were|was|have been|has been) (?:\w+ )?"
        r"(?:presented|reported|provided|given|discussed|conducted|performed|analy[sz]ed|compared|included|described|"
        r"carried out)\b|"
        r"\b(?:present|provide|report|discuss|give|describe)s? (?:\w+ ){0,4}(?:results|findings|experiments|limitations|"
        r"implications|challenges|baselines)\b"
    ),
    "yields": (
        r"\b(?:achiev\w+|attain\w*|reach\w*|yield\w*|obtain\w*|outperform\w*|surpass\w*|exceed\w*|state-of-the-art|"
        r"sota)\b"
    ),
    "compares": (
        r"\b(?:compared (?:to|with)|than|over (?:the )?(?:\w+ )?(?:baselines?|existing|previous|prior|state)|relative to|"
        r"versus|vs\.?|baselines?)\b"
    ),
    "proves": (
        r"\b(?:prov(?:e|es|ed|ing|ably)|theorems?|lower bounds?|upper bounds?|np-?\w*|polynomial|converge\w*|guarantee\w*|"
        r"theoretical\w*|complexity|conjecture|if and only if)\b|\bo\("
    ),
    "quantity": r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|dozens|hundreds|thousands|millions?)\b",
    "bears out": (
        r"\b(?:results?|findings?|insights?|work|study|research|analysis|analyses|survey|paper|experiments|evaluation|"
        r"observations) (?:\w+ ){0,2}(?:suggest|highlight|underscor|emphasi[sz]|impl(?:y|ies)|open|pave|offer|provid|"
        r"establish|position|point|advanc|contribut|lay|bridg|serv|inform|support|motivat|call|deepen)\w*"
    ),
    "somebody": (
        r"\b(?:researchers|practitioners|clinicians|engineers|developers|users|patients|society|industry|policy-?makers|"
        r"educators|students|community|communities|designers|stakeholders|organi[sz]ations|physicians|teachers|scientists|"
        r"operators|companies|businesses|professionals|individuals)\b"
    ),
    "needs no": (
        r"\b(?:requir(?:es?|ing) (?:neither|no|only|little|fewer|less|minimal)|no need|(?:does|do) not (?:need|require)|"
        r"independent of|need not|overcom\w+|avoid\w*|prevent\w*|eliminat\w+|alleviat\w+|mitigat\w+|circumvent\w*|"
        r"reduc\w+ the (?:need|cost|effort|burden|amount|number|risk|reliance))\b"
    ),
    "saves": (
        r"\b(?:sav(?:e|es|ing|ings)|costs?|cheap\w*|efficien\w+|fast\w*|effort|burden|overhead|memory|real time|"
        r"lightweight|low-\w+|scal\w+|quick\w*)\b"
    ),
    "elsewhere": (
        r"\b(?:(?:extend|appli|transfer|generali[sz]|adapt)\w* (?:\w+ )?(?:to|across|beyond)|other (?:domains|tasks|"
        r"applications|settings|fields|areas|languages|problems)|downstream|variety of|wide range|in practice|everyday|"
        r"daily)\b"
    ),
    "future": (
        r"\b(?:future|next|long-term|new (?:research|direction|avenue|possibilit|opportunit|application)\w*|further "
        r"(?:research|work|stud\w+|development)|challenges and|directions|agenda|road ?map|call for|needed)\b"
    ),
    "modal": r"\b(?:can|could|may|might|would|will)\b",
    "the first": (
        r"\b(?:is|are|as|represents?|present\w*|constitut\w+) (?:\w+ )?first\b|best of our knowledge|to our knowledge|"
        r"for the first time"
    ),
    "owns up": r"\b(?:limitations?|warning|disclaimer|not claim|nonetheless|caveat|harmful|unsafe)\b",
    "by doing": r"\bby \w+ing\b",
    "in particular": (
        r"^(?:specifically|in particular|concretely|namely|particularly|first|second|third|then|next|to this end|"
        r"for example|for instance|here)\b"
    ),
    "to do so": (
        r"^(?:to (?:address|overcome|tackle|solve|bridge|fill|mitigate|this end|alleviate|remedy|handle|resolve|achieve|"
        r"enable|that end)|towards? this|motivated by|inspired by|in this (?:paper|work|study|article))\b"
    ),
}

CUES = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}

WITHDRAWN = re.compile(
    r"\b(?:paper|article|manuscript|submission|version) (?:has been|was|is|have been|"
    r"is being) (?:\w+ )?(?:withdrawn|retracted|removed)|\bwithdrawn by (?:the )?(?:author|arxiv)"
)
WITHDRAWN_WORDS = ("withdrawn", "retracted", "removed")  # of which each match has one
