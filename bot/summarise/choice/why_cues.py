"""The words by which a consequence, or the importance of a subject, shows itself, and those by which all else does.

A name and a pattern for each kind of wording, tried on a text in lower case. They were chosen by reading abstracts; what
each says for each kind of sentence is learned (`training/why.py`).
"""

import re

_ADV = r"(?:[a-z-]+ ){0,3}?"
_WORK = (
    r"(?:results?|findings?|insights?|observations?|analys[ie]s|work|stud(?:y|ies)|paper|approach|"
    r"framework|method|conclusions?|proof|experiments?|research|contributions?|evaluations?|advancements?|"
    r"advances|innovations)"
)
_GOOD = (
    r"(?:practical|practically|feasible|viable|suitable|well-suited|possible|easier|easy|accessible|"
    r"applicable|attractive|appealing|ideal|useful|valuable|safe|sufficient|beneficial|effective|"
    r"promising|affordable|cost-effective|compatible|usable|deployable|adaptable|scalable|efficient|"
    r"resource-efficient|reliable|robust|helpful|adequate|well suited|proper|valid)"
)
_NEEDED = (
    r"(?:critical|crucial|essential|vital|pivotal|important|fundamental|key|necessary|indispensable|"
    r"paramount|imperative|central|core|major|urgent|increasingly|prominent)"
)
_PEOPLE = (
    r"(?:researchers?|practitioners|clinicians?|engineers|developers?|users?|patients?|society|industry|"
    r"policy-?\s?makers?|educators|students?|community|communities|designers|stakeholders|"
    r"organi[sz]ations?|physicians?|surgeons?|teachers|scientists|operators|companies|businesses|"
    r"professionals|individuals|children|people|citizens|providers?|consumers|analysts|modelers|"
    r"non-profits|humans?|drivers|farmers|hospitals?|attackers|public|media|women|elderly)"
)

_PATTERNS = {
    "needs": (
        r"\b(?:suggest|highlight|underscor|emphasi[sz]|indicat|reveal|stress|point|demonstrat|show|motivat|"
        r"rais|call)\w*\b.{0,80}\b(?:needs?|importance|necessity|value|urgency|benefits? of|"
        r"role of)\b(?! further| more research)"
    ),
    "the need for": r"\b(?:(?:critical|urgent|strong|pressing|clear) )?needs? (?:for|to)\b|\bneed to\b",
    "results suggest": (
        rf"\b{_WORK} (?:[a-z]+ )?(?:suggest|impl(?:y|ies)|indicat|highlight|underscor|emphasi[sz]|establish|"
        rf"open|pav|call|motivat|rais|point|position|support|inform|offer|provid|allow|enabl|advanc|contribut|"
        rf"represent|mark|make|lay)\w*"
    ),
    "suggest that": r"\b(?:suggest|indicat|impl|conclud)\w* that\b|, suggesting\b|\bsuggests? ",
    "implications": r"\bimplications?\b",
    "paves": (
        r"\bpav(?:es?|ing)(?: the)? (?:a )?(?:way|path|road)|\b(?:open|unlock)(?:s|ing)?(?: up)?(?: (?:the|a|"
        r"new|up))* (?:door|use|possibilit\w*|avenues?|pathways?|opportunit\w*|ways?|directions?|"
        r"applications?)|\b(?:step|stride)s? (?:toward|forward)|\bbrings? .{0,40}\bcloser"
    ),
    "way for": r"\b(?:way|path|door|pathway|foundation|basis|route|step|stage|groundwork) (?:for|to|towards?)\b",
    "concrete way": (
        r"\b(?:way|path|door|pathway|foundation|basis|route|step|groundwork) (?:for|to|towards?) (?:[a-z]+ing|"
        r"more|safer|better|[a-z-]+ly)\b"
    ),
    "making it": rf"\bmak(?:es?|ing) (?:it|them|this|[\w -]{{1,30}}?) {_ADV}{_GOOD}\b",
    "good for": rf"\b{_GOOD} (?:for|to|in|across|on|with)\b",
    "practical": (
        r"\b(?:practical|practice|real-world|deployment|deploy(?:ed|ing)?|clinical|industrial|everyday|"
        r"routine|applications?)\b"
    ),
    "as a way": (
        rf"\b(?:as|is|are|offers?|offering|provid\w+|represents?|establish\w+) an? {_ADV}(?:solution|"
        rf"alternative|approach|tool|option|foundation|basis|paradigm|pathway|route|direction|strategy|"
        rf"framework|means|way|path|platform|resource|mechanism|baseline)\b"
    ),
    "tool for": (
        r"\b(?:solution|alternative|tool|option|foundation|basis|framework|platform|resource|mechanism|"
        r"guidance|guidelines?|pathway|route|strategy|support|insights?|path)s? (?:for|to|into|towards?)\b"
    ),
    "should": (
        r"\b(?:should|ought to|must|recommend\w*|advocate\w*|advis\w+|consideration|warranted|unnecessary|"
        r"not necessary|be considered|necessary only|we argue|prefer(?:able|red))\b"
    ),
    "may help": (
        r"\b(?:can|could|may|might|would|will) (?:be |also |potentially |significantly |substantially |thus |"
        r"even )*(?:used|utili[sz]ed|help|aid|assist|guide|inform|benefit|beneficial|improve|reduce|prevent|"
        r"lead|serve|enable|allow|facilitate|enhance|support|provide|save|successfully|feasible|useful|"
        r"deployed|applied|have)\b"
    ),
    "can be used": (
        r"\b(?:can|could|may|might) (?:be |also be |therefore be |readily be |easily be )(?:used|utili[sz]ed|"
        r"applied|extended|deployed|integrated|adapted|adopted|useful|employed)\b"
    ),
    "can": r"\b(?:can|could|may|might|would)\b",
    "enables": (
        r"\b(?:enabl(?:es?|ing)|allow(?:s|ing)?|lets?|permit(?:s|ting)?|empower(?:s|ing)?|facilitat(?:es?|"
        r"ing)|help(?:s|ing)|support(?:s|ing)|aid(?:s|ing)?(?: in)?|unlock\w*)\b"
    ),
    "it enables": (
        r"^(?:(?:overall|ultimately|together|thus|therefore|in summary|finally|by [^,]+|"
        r"more importantly),? )?(?:this|these|it|our|the) (?:[\w-]+ ){0,4}(?:enables?|allows?|facilitates?|"
        r"helps?|supports?|offers?|provides?|brings?|puts?|empowers?|makes?|establish\w*|opens?|paves?|"
        r"advances?|enhances?)\b"
    ),
    "tail enables": (
        r", (?:(?:thus|thereby|hence|therefore|ultimately|and|which|further|potentially|significantly|"
        r"substantially) )*(?:enabl(?:ing|es)|allow(?:ing|s)|mak(?:ing|es)|facilitat(?:ing|es)|help(?:ing|s)|"
        r"support(?:ing|s)|empowering|ensur(?:ing|es)|reducing|improving|paving|opening|unlocking|offering|"
        r"providing|bringing|simplifying|eliminating|avoiding|lowering|saving|cutting|enhancing|obviating|removing)\b"
    ),
    "tail need": r", (?:(?:thus|thereby|and) )*(?:highlight|underscor|suggest|emphasi[sz]|motivat|rais|indicat)ing\b",
    "people": rf"\b{_PEOPLE}\b",
    "lets people": (
        rf"\b(?:enabl|allow|help|empower|let|support|aid|assist|guid|inform|offer|serv|benefit|provid|giv|for|"
        rf"by|protect)\w* (?:the |[a-z-]+ ){{0,2}}{_PEOPLE}\b"
    ),
    "saves": (
        r"\b(?:without (?:the need|requiring|needing|any|additional|manual|relying|human|expensive|costly|"
        r"sacrific\w+|extra|labels?|retraining)|eliminat\w+|reduc\w+ (?:the )?(?:need|cost|burden|effort|"
        r"workload|risk|reliance)|sav(?:es?|ing)|avoid\w*|lower\w* (?:the )?(?:cost|barrier)|cost-effective|"
        r"burden|workload)\b"
    ),
    "somewhere": (
        r"\b(?:on (?:a )?(?:single |one |consumer|commodity|standard|edge|mobile|resource|"
        r"low)[\w -]{0,20}(?:gpus?|hardware|devices?|phones?|cpus?)|resource-constrained|consumer|"
        r"edge devices?|large-scale|at scale|real-time|low-resource|safety-critical|high-stakes|healthcare|"
        r"medical|clinical|education\w*|autonomous (?:driving|vehicles)|robotics?|security|industr\w+|"
        r"public health)\b"
    ),
    "is crucial": (
        rf"\b(?:is|are|become|becomes|becoming|became|remains?|been|as|making (?:it|them)|proves?|being|plays?|"
        rf"capability|serves?) (?:an? |the |of |also |highly |increasingly |both |most |\w+ly )*{_NEEDED}\b"
    ),
    "crucial for": (
        rf"\b{_NEEDED} (?:for|to|in|role|enabler|importance|component|part|step|task|tool|problem|technique|"
        rf"area|topic|stage|challenge)\b"
    ),
    "crucial for doing": (
        rf"\b{_NEEDED}(?: role)? (?:for|to|in) (?:\w+ly )?(?:[a-z]+ing|ensur|the|real|safe|many|various|enhanc|"
        rf"deliver|improv|protect|secur|understand|[a-z]+)\b"
    ),
    "crucial task": (
        rf"\b{_NEEDED} (?:component|part|step|task|tool|problem|technique|area|topic|building|concept|stage|"
        rf"challenges?|issues?)\b"
    ),
    "many domains": (
        r"\b(?:in|for|to|across|of) (?:many|various|numerous|several|diverse|a variety of|a wide range of|"
        r"different|multiple) (?:[\w-]+ ){0,3}(?:domains?|applications?|fields?|areas?|tasks?|settings|"
        r"scenarios)\b"
    ),
    "such as": r"\b(?:such as|including|like)\b",
    "harm": (
        r"\b(?:risks?|threat(?:s|en\w*)?|harm\w*|concerns?|dangers?\w*|safety|secur\w+|privacy|misus\w*|"
        r"attacks?|malicious|bias\w*|misinformation|vulnerab\w+|fraud|death|mortality|disease|cancer\w*|"
        r"toxic\w*|illness|economic\w*|financ\w*|emergency|errors|manipulat\w*|abuse|fail\w*|surveillance)\b"
    ),
    "poses": (
        r"\b(?:pos(?:es?|ed|ing)|rais(?:es?|ed|ing)|introduc(?:es?|ing)|creat(?:es?|ing)|present(?:s|"
        r"ing)?) (?:an? )?(?:[\w-]+ ){0,3}(?:risks?|threats?|concerns?|dangers?|hazards?|questions)\b|"
        r"\bat risk\b|\brisk (?:of )?\w+ing\b"
    ),
    "leads to harm": (
        r"\b(?:lead(?:s|ing)?|result(?:s|ing)?|caus(?:es?|ing)) (?:to |in )?.{0,50}\b(?:risks?|losses|harm\w*|"
        r"errors?|bias\w*|fail\w+|benefits?|cascading|unreliable|misleading)\b"
    ),
    "quality of life": (
        r"\b(?:quality of life|health|society|societal|social|public|human|lives|productivity|economy|"
        r"environment\w*|climate|energy|agricultur\w*|food|disaster|emergency|million|billion|worldwide|"
        r"global\w*)\b"
    ),
    "promising": r"\b(?:promising|potential|promise)\b",
    "our own": r"\b(?:our|we|proposed|this (?:paper|work|study))\b",
    "of ours": (
        r"\b(?:effectiveness|potential|superiority|efficacy|utility|feasibility|robustness|validity|benefits|"
        r"advantages?|strength|importance|efficiency) of (?:our|the|this|using|[A-Z]|\w+ing)"
    ),
    "shows": (
        r"\b(?:experiments?|evaluations?|simulations?|results?) (?:\w+ ){0,6}(?:show|demonstrat|confirm|"
        r"validat|reveal|indicat|verif)\w*|\boutperform\w*|\bsurpass\w*|\bstate-of-the-art\b|\bachiev\w+\b|"
        r"\bbaselines?\b"
    ),
    "figure": r"\d\s?(?:%|\\%|×|x\b|percent|points?|fold|times)|\d\.\d",
    "number": r"\b\d+\b",
    "gap": (
        r"\b(?:however|but|although|while|yet|despite|unfortunately|remains?|lack\w*|limited|challeng\w+|"
        r"difficult\w*|hinder\w*|suffer\w*|existing|struggle\w*|cannot|fail)\b"
    ),
    "proposes": (
        r"\bwe (?:\w+ly |also |then |further |first |thus )?(?:propos|introduc|present|develop|design|us|"
        r"conduct|evaluat|appl|stud|investigat|compar|train|build|built|analy|explor|address|consider|show|"
        r"demonstrat|find|prove|provide|formulat|employ|review|discuss|test)\w*|\b(?:this|the) (?:paper|"
        r"article|study|work|thesis) (?:\w+ly |also )?(?:propos|introduc|present|develop|investigat|stud|"
        r"describ|explor|address|examin|review|analy|consider|aim|report|focus|discuss)\w*"
    ),
    "mechanism": (
        r"\b(?:modules?|layers?|loss|encoder|decoder|stage|specifically|first|second|then|next|architecture|"
        r"component|training|trained|dataset|algorithm|parameters?|consists?|comprises?|features?|mechanism|"
        r"by \w+ing)\b"
    ),
    "recently": (
        r"\b(?:recent\w*|rapid\w*|success|progress|advance\w*|attention|popular\w*|widely|growing|"
        r"increasing\w*|emerg\w+|era|remarkable)\b"
    ),
    "definition": (
        r"^[\w -]{3,60} (?:\([\w-]+\) )?(?:is|are) (?:an? |the )?(?:task|problem|process|technique|method|"
        r"type|class|field|area|family|form|model|widely|well-known|commonly|one of)\b"
    ),
    "available": (
        r"https?:|github|\b(?:publicly|freely|openly|code|codes|datasets?|models?|weights|data|implementation|"
        r"package|demo|supplementary|software|artifacts|benchmark)\b[^.]{0,60}\b(?:available|released?|"
        r"open-?sourced?|accessible|found at)\b|\bwe (?:will |also |further |publicly |have |hereby |"
        r"fully )*(?:release|open-?source|make)\b|\bproject page\b|\bopen-sourced?\b"
    ),
    "future work": (
        r"\b(?:future|further) (?:[\w-]+ ){0,2}(?:work|research|stud\w+|investigation\w*|development\w*|"
        r"exploration\w*|directions?|improvements?|advance\w*|effort\w*|progress|iterations|evaluation|"
        r"validity)\b|\bmore research\b|\bwe (?:hope|plan|intend|believe|anticipate|expect|aim)\b|"
        r"\bfurther stud(?:y|ies)\b|\bopen (?:questions?|problems?|challenges|issues)\b|\bnext steps?\b|"
        r"\b(?:inspire|stimulate|foster|encourage|spur|motivate) (?:[\w-]+ ){0,4}(?:research\w*|stud\w+|work|"
        r"development|exploration)\b|\bfuture\b"
    ),
    "hope": r"\bwe (?:hope|plan|intend|believe|anticipate|expect|aim)\b|\bit is hoped\b",
    "community": (
        r"\b(?:research communit\w+|researchers in|this field|the field|area of research|understanding of|"
        r"insights?|reproducib\w+|benchmark)\b"
    ),
    "insights": r"\binsights?\b|\bunderstanding\b|\blights?\b",
    "limitation": (
        r"\b(?:limitations?|drawbacks?|caveats?|however|our (?:method|approach|study) (?:does|is|cannot|"
        r"has) not)\b"
    ),
    "keywords": (
        r"^(?:keywords?|index terms|key words|ccs|acm|msc)\b|©|\bcopyright\b|\baccepted (?:to|at|for|by)\b|"
        r"\bto appear\b|\bpublished (?:in|by)\b|\bunder consideration\b|\bproject page\b|\bworkshop\b|"
        r"\bproceedings\b"
    ),
    "pointing": r"^(?:this|these|it|such|they|that|those)\b(?! (?:paper|work|study|article))",
    "sums up": (
        r"^(?:overall|in (?:summary|conclusion|general)|in all|together|ultimately|conclusions?|thus|"
        r"therefore|consequently|our (?:results|findings|work|study|framework)|(?:these|the) (?:results|"
        r"findings|insights|advancements)|this work|this study|by \w+ing)\b"
    ),
    "necessity of life": (
        r"\b(?:is|are) (?:probably |likely |rarely |not |only )*(?:un)?necessary\b|\bfirst (?:option|choice|"
        r"line)\b|\bstandard of care\b|\bin (?:selected |these |such )?patients with\b|\bshould\b"
    ),
    "long tail": r"\b(?:thereby|thus|hence|so that|in turn|ultimately)\b",
    "threat to people": (
        r"\b(?:public opinion|democra\w+|spread|discord|stereotypes?|inclusi\w+|fair\w*|equit\w*|trust\w*|"
        r"responsib\w+|account\w+|governance|regulat\w+|compliance|ethic\w*|transparen\w+)\b"
    ),
    "better things": (
        r"\b(?:safer|fairer|more (?:[\w-]+ ){0,3}(?:robust|reliable|efficient|accurate|scalable|trustworthy|"
        r"transparent|interpretable|consistent|resilient|informed|equitable|responsible|accessible|practical|"
        r"adaptive|human-like|effective|personalized)|better|faster|cheaper|easier|greater|"
        r"informed (?:decisions?|choices?))\b"
    ),
    "applicable": (
        r"\b(?:applicab\w+|generali[sz]\w+ to|extend\w* to|transfer\w* to|compatib\w+|plug-and-play|broader|"
        r"broadly|any|model-agnostic|training-free)\b"
    ),
    "calls for doubt": (
        r"\b(?:calls? into question|questions? the|undermin\w+|challeng(?:es?|ing) the|cautions? against|calls? for|"
        r"raises? (?:\w+ ){0,2}(?:concerns?|questions)|rais(?:es?|ing) (?:\w+ ){0,3}concerns?)\b"
    ),
    "not to be done": (
        r"\b(?:inadequate|insufficient|inappropriate|unreliable|contraindicat\w+|not (?:be )?(?:\w+ )?(?:indicated|"
        r"justified|appropriate|recommended|useful|required|needed|sufficient|reliable|a reliable))\b"
    ),
    "demand": (
        r"\b(?:growing|increas\w+|urgent|rising|high\w*|pressing|ever-\w+|strong) (?:[\w-]+ )?(?:needs?|demands?|concerns?|"
        r"opportunit\w+|importance|interest)\b"
    ),
    "used for": (
        r"\b(?:applications? (?:such as|including|like|in|ranging|across|of)|used (?:in|for|by|to|as)|widely used|"
        r"widespread|real[- ]life|in many|everyday|ubiquitous|role in|ranging from)\b"
    ),
    "towards": r"\btowards?\b|\bstep\b|\broadmap\b|\bblueprint\b",
    "new standard": r"\bnew (?:[\w-]+ )?(?:paradigm|standard|benchmark|state|perspective|baseline|direction|milestone)s?\b",
    "aims": r"\b(?:aims? (?:to|at)|aiming|seeks? to|intended to|goal)\b",
    "asks": r"\?",
    "compares": r"\b(?:compar\w+|than|versus|while (?:maintaining|preserving|achieving|retaining)|without sacrificing)\b",
    "as something": r"\b(?:establish|position|highlight|suggest|mak|serv)\w* (?:[\w-]+ ){1,6}?as (?:an? |the )",
    "tells us": (
        r"\b(?:actionable|guidance|guidelines?|guide|recommend\w*|best practices?|lessons|recipe|practical insights?|"
        r"inform\w*)\b"
    ),
    "model at work": r"\b(?:module|mechanism|strategy|stage|agents?|tokens?|representations?|features?|layers?|design)\b",
}

CUES = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}

PROPOSES = CUES["proposes"]

# What cannot be shown without one of these words is not looked at further: all of the marked ones but a few have one.
MAY_SAY = re.compile(
    r"need|importan|crucial|critical|essential|vital|key|fundamental|pivotal|central|implication|suggest|"
    r"highlight|underscor|"
    r"emphasi|indicat|demonstrat|pav(?:e|ing)|open|unlock|step|foundation|basis|way|mak(?:es?|ing)|"
    r"practical|feasib|viable|suit|"
    r"solution|tool|framework|alternative|should|must|recommend|necessary|can\b|could|may\b|might|would|"
    r"enabl|allow|empower|"
    r"facilitat|help|support|guid|inform|without|eliminat|reduc|avoid|sav(?:e|ing)|cost|risk|threat|harm|"
    r"concern|safe|secur|"
    r"privacy|health|life|users?|patients?|clinic|practi|applic|real-world|potential|promis|lead|ensur|"
    r"offer|provid|serv|"
    r"advanc|improv|establish|benefi|burden|effort|econom|societ|public|role|increasing"
)

# By which a text is surely something else: to be had, to come, or a notice.
NEVER = re.compile(
    r"https?:|github|©|\bcopyright\b|^(?:keywords?|index terms|key words)\b|\baccepted (?:to|at|for|by)\b|"
    r"\bproject page\b|"
    r"\b(?:publicly|freely|openly) (?:available|accessible|released?)\b|"
    r"\b(?:codes?|codebase|datasets?|data|models?|weights|implementation|package|demo|software|artifacts|"
    r"benchmark|scripts|"
    r"library|toolkit|checkpoints|corpus)\b[^.;]{0,50}\b(?:is|are|be|been|made) (?:\w+ )?(?:available|"
    r"released?|open-?sourced?)\b|"
    r"\b(?:available|accessible|found|released) (?:at|on|from|under|via|online|upon|here)\b|"
    r"\bopen-?sourc(?:e|es|ed|ing) (?:our|the|all|"
    r"this)\b|\bwe (?:will |also |further |publicly |have |hereby |fully )*(?:release|open-?source)\b|"
    r"\b(?:we|the authors) (?:hope|plan|intend|anticipate|believe)\b|\bit is hoped\b|\bthe authors (?:hope|plan|intend)\b|"
    r"\b(?:in|for|our|as|to) (?:the )?future (?:work|research|stud(?:y|ies)|directions?|investigations?|"
    r"exploration)\b|"
    r"\bfuture (?:work|research|stud(?:y|ies)|directions?)\b|\b(?:further|more|additional) (?:research|"
    r"stud(?:y|ies)|work|investigations?)"
    r"(?: and \w+)? (?:is|are|will be|should be) \w+|\bopen (?:questions?|problems?|challenges|issues)\b|"
    r"\bneed for (?:further|more|future) (?:research|stud(?:y|ies)|work|investigations?)\b|"
    r"\bfuture (?:explorations?|investigations?|efforts|improvements?)\b|\bfurther (?:\w+ )?evidence\b|"
    r"\bopportunities and challenges\b|"
    r"\b(?:inspir|stimulat|foster|encourag|spur)\w* (?:[\w-]+ ){0,4}(?:research\w*|stud(?:y|ies)|exploration)\b|"
    r"\bway (?:for|to|towards?) (?:further|future|more) (?:research|stud(?:y|ies)|work|advance\w*|development\w*|"
    r"progress)\b|\bfurther study\b|"
    r"\bneeds? (?:for )?further (?:exploration|development|investigation|research|stud(?:y|ies)|work|evaluation|"
    r"validation)\b|"
    r"\b(?:conduct\w*|merits?|warrants?|deserves?|requires?) (?:further|additional|more) \w+|\?\s*$"
)
