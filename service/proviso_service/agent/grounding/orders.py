"""Finds sentences of a source that give orders to the assistant, such as `Ignore all previous instructions`. They are
no evidence of anything: neither they nor what follows them in their paragraph can be quoted or cited."""

import re

from proviso_service.agent.grounding.words import words_of

_ASSISTANT = (
    r"(?:assistants?|a\.?i\.?(?: (?:model|system|assistant|agent|tool)s?)?|(?:large )?language models?|llms?|"
    r"\w*bots?|chatgpt|gemini|gpt|"
    r"ki(?:[- ](?:assistent\w*|modell\w*|system\w*))?|sprachmodell\w*|assistent\w*|assistente?s?|asistentes?|"
    r"modèles? de langage|"
    r"modelos? de lenguaje|intelligences? artificielles?|inteligencia artificial|systèmes? d['’]ia|assistants? ia|ia|"
    r"proviso|"
    r"(?:whoever|anyone who|any system that|the system that|everyone who) (?:processes|reads|summari[sz]es|"
    r"analy[sz]es|answers)|"
    r"wer (?:dies|das|diesen text|dieses dokument)|automat(?:ed|ic) (?:systems?|readers?|tools?|review\w*|processors?)|"
    r"automatische\w* (?:leser\w*|systeme?|prüfung\w*|auswertung\w*)|lecteurs? automatiques?|claude|copilot|llama|"
    r"mistral)"
)
_SAY = (
    r"(?:say|state|answer|reply|respond|tell|write|output|print|report|claim|assert|confirm|quote|cite|repeat|"
    r"include|append|add|adds|note|insist|"
    r"conclude|mention|present|describe|assume|treat|pretend|"
    r"sag\w*|antwort\w*|schreib\w*|behaupt\w*|erklär\w*|bestätig\w*|nenn\w*|zitier\w*|ausgeben|angeben|anzugeben|"
    r"mitteilen|mitzuteilen|"
    r"dis|dire|dites|répond\w*|écri\w*|affirm\w*|confirm\w*|indiqu\w*|mentionn\w*|"
    r"di|decir|diga|respond\w*|escrib\w*)"
)
_USER = (
    r"(?:(?:the |dem |den |der |à l['’]|au |aux |al |a los )?(?:users?|benutzer\w*|nutzer\w*|anwender\w*|"
    r"utilisateurs?|usuarios?|reader|lawyers?)|"
    r"(?:whoever|the person who) asks|everyone who asks)"
)
_ANSWER = r"(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|outputs?|antwort(?:en)?|réponses?|respuestas?)"
_RULES = (
    r"(?:instructions?|prompts?|rules?|directions?|guidelines?|sources?|context|above|previous|prior|everything|"
    r"other (?:clauses|documents|passages)|"
    r"sentences?|\w*anweisung\w*|regeln?|richtlinien|vorgaben?|quellen?|vorherig\w*|vorig\w*|bisherig\w*|obig\w*|"
    r"alles|satz|sätze|"
    r"consignes?|règles?|précédent\w*|tout|instrucciones|reglas|fuentes|anterior\w*|todo)"
)
_FORGET = (
    r"(?:drop|abandon|stop following|stop obeying|(?:do not|don['’]t|no longer) (?:follow|obey|use)|befolg\w*|"
    r"n['’]écoute\w* plus|ne suis plus|cesse[rz]? de suivre|ignore[rz]?|disregard|forget|override|bypass|skip|"
    r"ignorier\w*|vergiss|vergessen sie|missacht\w*|überschreib\w*|"
    r"oublie[rz]?|ne (?:tiens?|tenez) pas compte|ignor[aeo]\w*|olvid[ae]\w*)"
)
_IS = r"(?:is|are|will be|must|shall|should|has to|reads?|lautet|ist|muss|doit|est|debe|es)"
_NO_NOUN = r"(?![\"”)]|,? (?:and|or)\b| of\b| names?\b)"
"""What does not follow a command, but words of contracts: (each, a "Claim"), federal, state or local, print name."""
_BEGINS = (
    r"(?:(?:\A|[.!?:;,\n>\"“„«(*\]_]|(?<!\w)-)\s*(?:(?:please|now|and|then|so|just|only|always|instead|"
    r"bitte|nun|immer|nur|"
    r"s['’]il vous plaît|"
    r"por favor|siempre),? )*|\b(?:you|du|sie|vous|tu|usted) (?:must|should|shall|will|are to|have to|need to|can|"
    r"musst|müssen|sollst|"
    r"sollen|devez|dois|debe|debes) (?:\w+ )?)"
)
_MODAL = (
    r"(?:must|should|shall|has to|have to|needs? to|is to|are to|will|please|soll\w*|muss|müssen|doit|doivent|debe\w*|"
    r"(?:instructed|required|ordered|told|asked|requested|invited|directed) to|angewiesen|gebeten|pri[ée]s? de|"
    r"est invité\w*)"
)
_MACHINE = (
    r"(?:a\.?i\.?(?: (?:model|system|assistant|agent|tool)s?)?|(?:large )?language models?|llms?|\w*bots?|chatgpt|"
    r"gemini|gpt|claude|copilot|"
    r"ki-\w+|sprachmodell\w*|modèles? de langage|modelos? de lenguaje|automat(?:ed|ic) (?:systems?|readers?|tools?|"
    r"processors?))"
)
# Written for a text in small letters, and tried only where no word is cut in two: both make it several times faster.
_ORDER = re.compile(
    r"(?:(?<![^\W_])|(?![^\W_]))(?:"
    + "|".join(
        (
            rf"{_BEGINS}{_FORGET}\b.{{0,60}}\b{_RULES}\b",
            rf"(?<!['’]s )(?<!of the )(?<!der )(?<!des )\b{_ASSISTANT}\b(?:[^.\n]|"
            rf"\.(?=\S)){{0,80}}\b{_MODAL}(?:[^.\n]|\.(?=\S)){{0,80}}"
            rf"\b{_SAY}\b(?=[^.\n]{{0,40}}?(?:\b(?:that|dass|que|as|with|so|the following|mit)\b|[:\"“„«]|\d))",
            rf"\b{_MACHINE}\b(?:[^.\n]|\.(?=\S)){{0,80}}\b{_MODAL}(?:[^.\n]|\.(?=\S)){{0,80}}\b{_SAY}\b",
            rf"\b(?:is|are|be|bitte[nt]?|wird|werden|est|sont|son) (?:\w+ )?(?:asked|requested|invited|instructed|"
            rf"urged|told|to be|gebeten|angewiesen|pri[ée]s?|invité\w*)"
            rf"(?: to| de)? (?:\w+ )?(?:rendered|reported|presented|described|quoted|read out|"
            rf"{_SAY})\b(?=[^.\n]{{0,60}}?(?:\b(?:that|dass|que|as|with|the following)\b|[:\"“„«]))",
            r"\b(?:and|then|but|meanwhile|instead|kindly|und|et|y) (?:\w+ )?(?:say|state|answer|reply|respond|write|"
            r"print|report|repeat|sage|antworte|schreibe|behaupte|dis|dites|réponds|répondez|"
            # A party has to "examine the goods and report any defect that it finds".
            r"affirme[rz]?) (?:(?!(?:an?|all|any|each|every|its|the|their) )\w+ ){0,2}?(?:that|dass|que|with|only)\b",
            rf"\b(?:merci de|merci d['’]|veuillez|thank you for|prière de|sírvase|favor de) ?{_SAY}",
            rf"\b(?:could|would|can|will) you (?:\w+ )?{_SAY}\b|\bif you (?:could|would|can) (?:\w+ )?{_SAY}\b",
            rf"{_BEGINS}(?:begin|start|open|end|finish|conclude|beginne\w*|commence\w*|empiece) (?:your|the|deine|"
            rf"ihre|ta|votre|su) {_ANSWER}\b",
            rf"{_BEGINS}(?:translate|render|present|copy|paste|reproduce|übersetze\w*|tradui\w*|"
            rf"traduce) (?:the following|this|folgend\w*|ce qui suit|lo siguiente)\b",
            r"\b(?:anyone|whoever|whatever|everyone|any person|any system|wer(?: auch)? immer|quiconque|"
            r"quien) (?:or \w+ )?(?:prepar\w+|read\w*|summari[sz]\w+|analy[sz]\w+|process\w*|answer\w*|generat\w+|"
            r"liest|zusammenfasst|lit|résume|lee|resume)\b",
            r"\bfor (?:the )?(?:purposes? of )?(?:machine|automated|ai|automatic) (?:reading|readers?|processing|"
            r"summar\w+)\b",
            rf"{_BEGINS}pretend\b|\b(?:developer|editor|reviewer|admin|model) note\b|(?<!the )\bmodel (?:should|must|"
            rf"shall|is to)\b",
            rf"{_BEGINS}{_FORGET} (?:the |any )?(?:user|client|person|lawyer)['’]s\b",
            r"\b(?:instructions?|notes?|messages?|orders?|commands?|attention|important|hinweise?|anweisung(?:en)?|"
            r"nachricht|befehle?|consignes?|"
            r"instrucciones|notas?|avisos?)\b[^.\n]{0,30}\b(?:to|for|an|für|à|au|aux|pour|para|al?) "
            rf"(?:the |any |all |every |you,? the |die |das |den |alle |jede[ns]? |l['’]|el |la |les |"
            rf"le )?{_ASSISTANT}\b",
            r"(?:\A|[\n\[<(#*>\"“])\W*(?:system|assistant|developer|admin|administrator|sys|tool|function)\s*[:\]>]",
            r"\bsystem[ _-]?(?:notes?|prompts?|messages?|override|updates?|instructions?|hinweis|meldung|"
            r"nachricht)\s*[:\])>=-]",
            r"<\|?/?(?:system|im_start|im_end|assistant|user|tool|instructions?|inst)\b|\[/?(?:inst|system|sys)\]|"
            r"<<sys>>",
            r"\btool (?:result|output|response)s?\b|\b(?:isaacus_\w+|list_matter_documents|get_document_text)\b",
            r"(?:\A|\n|[.!?]\s)\W*(?:end|ende|fin) (?:of |des |du |de la |del )(?:the )?(?:document|contract|context|"
            r"passage|file|text|dokuments|vertrags|textes?|documento)\b",
            r"\b(?:new|updated|revised|real|hidden|secret|neue|nouvelles?|nuevas?) (?:system )?(?:instructions?|"
            r"prompt|anweisung(?:en)?|consignes?|instrucciones)\b",
            rf"{_BEGINS}(?:tell|inform|assure|advise|remind|sag\w*|teil\w*|informier\w*|dis|dites|informez|indiquez|"
            rf"diga|dile|informe)\b.{{0,20}}\b{_USER}\b",
            rf"{_BEGINS}(?:say(?!-)|answer|reply|respond|write|repeat|confirm|insist|"
            rf"(?:state|output|print|report|claim)\b{_NO_NOUN}|"
            rf"antworte\w*|schreib\w*|sage|behaupte\w*|"
            rf"répond\w*|écri\w*|affirm\w*|responde|responda|escrib\w*)\b[^.\n]{{0,30}}?(?:\b(?:that|dass|que|exactly|"
            r"only|with|verbatim|the (?:following|text|sentence|words|next|exact|same)|every question|all questions|"
            r"any question|"
            r"genau|wörtlich|nur|mit|auf (?:alle|jede) fragen?|exactement|uniquement|par|à toute question|"
            r"exactamente|con|a toda pregunta)\b|[:\"“„«‘'])",
            rf"\b(?:your|votre|ta|su|tu) {_ANSWER}\b(?: that you\b[^.\n]{{0,30}})?[^.\n]{{0,20}}\b{_IS}\b",
            # "The response time is" speaks of a service, and "the response shall be sent" of the parties.
            rf"\b(?:du|die|the) {_ANSWER}(?: that you\b[^.\n]{{0,30}}| to [^.\n]{{0,20}})? {_IS}\b"
            r"(?! be \w+(?:ed|en|nt|de)\b)",
            rf"\b(?:correct|right|only|true|proper|expected|final|richtige|korrekte|einzige|bonne|seule|"
            rf"correcta) {_ANSWER}\b",
            rf"\b(?:include|cite|quote|state|repeat|mention|add|write|say|put|use)\b.{{0,80}}\bin (?:your|their|its|"
            rf"any|every|each) {_ANSWER}\b",
            r"\b(?:cite|quote|zitier\w*|citez) (?:it|this|that|es|dies|ceci|-?le)?\s?(?:as|als|comme|como)\b",
            r"\b(?:you are|you['’]re|act as|pretend to be|du bist|sie sind|tu es|vous êtes|eres|"
            r"agis comme) (?:(?:now|no longer|jetzt|nun|nicht mehr|maintenant|désormais|ahora) )?"
            rf"(?:an? |the |ein[e]? |un[e]? )?(?:\w+ )?{_ASSISTANT}\b",
            r"\byou are (?:now|no longer)\b(?! (?:employed|engaged|entitled|obliged|obligated|required)\b)",
            rf"\b(?:if|when|falls|wenn|si|quand) (?:you are|you['’]re|du|sie|vous êtes|tu es) (?:an? |ein[e]? |"
            rf"une? )?(?:\w+ )?(?:{_ASSISTANT}|asked|gefragt)\b",
            r"\b(?:if|when|whenever) you are asked\b|\b(?:si|quand|lorsqu['’]) ?(?:on vous|on te) (?:demande|"
            r"interroge)\b|\b(?:wenn|falls) (?:du|sie) (?:danach )?gefragt\b",
            rf"\b(?:whatever|no matter what|regardless of what|was auch immer|egal,? was|quoi que|quelle que soit|"
            rf"sea cual sea)\b.{{0,40}}\b(?:{_USER}|asks?|asked|fragt|question|demande|pregunta)\b",
            r"\b(?:do not|don['’]t|never) (?:tell|mention|reveal|show|quote|cite|search|use|let) .{0,40}\b(?:users?|"
            r"instruction|this note|this message|sources?|tools?|real|actual)\b",
            r"\b(?:gpt(?:-?\d\S*)?|chatgpt|claude|gemini|copilot|llama|mistral|llms?|(?:large )?language models?|"
            r"a\.?i\.? (?:models?|assistants?)|sprachmodelle?|ki-\w+)\s*:",
            r"\b(?:hidden|secret|versteckte\w*|cachée?) (?:note|message|text|hinweis|notiz)\b|\b(?:hide|conceal|"
            r"remove|delete) (?:this|the) (?:note|message|instruction)\b",
            r"\b(?:your|deine[nrms]?|tes) (?:\w+ ){0,2}(?:guidelines?|system ?prompt|prompt|rules|programming|"
            r"training|consignes|\w*anweisung\w*|richtlinien)\b",
            r"\bprompt injection\b|\bjailbreak\b|\bdeveloper mode\b|\bdan mode\b",
        )
    )
    + ")"
)
_TRIGGERS = tuple(
    "ignor disregard forget overrid bypass skip drop abandon stop follow obey vergiss vergess missacht "
    "überschreib befolg écoute suis cesse oubli tien tenez olvid "
    "assist asist ai a.i llm lm language bot chat gpt gemini claude copilot llama mistral ki sprachmodell "
    "modèle modelo modell model ia intelligence inteligencia système whoever wer automat lecteur proviso agent "
    "caller "
    "system sys developer admin tool function isaacus_ list_matter_ get_document_ end ende fin inst "
    "prompt anweis consigne befehl order command hinweis nachricht message note nota aviso attention important "
    "user benutz nutz anwend utilisat usuario reader answer repl respon réponse respuest antwort summar output "
    "cite quote zitier citez hidden secret versteckt caché jailbreak injection mode guideline programming "
    "training richtlin regel tes "
    "translat render present copy paste reproduc merci prière kindly meanwhile could would anyone everyone quiconque "
    "machine pretend model p.s begin start "
    "say state report claim tell inform behaupt schreib sag teil dis dites indiquez diga dile affirm écri "
    "print write repeat confirm insist you".split()
)
"""Every order has a word that begins so. Few texts have one, and the others need not be looked at more closely."""

# Letters that `lower` leaves as they are or makes two of.
_SMALL = str.maketrans("İıſ", "iis")
_NO_WORD = ' \t\n.,;:!?"“”„«»()*_-'
_BLANK = "\ufffc"
_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:\d+(?:\.\d+)*[.)]?\s|#))")
_SENTENCE_START = re.compile(r"(?:[.!?]\s+|\n|\A)(?=\S)")


_HEADING = re.compile(r"\s*#|[^\n.!?]{0,80}:?\s*\Z")


_TO_TELL = re.compile(
    rf"\b(?:you|the (?:agent|assistant|model|bot|caller)|l['’]agent|der agent|"
    rf"el agente) (?:\w+ )?{_MODAL}\s+(?:\w+ ){{0,2}}(?:inform|advise|notify|{_SAY})\b"
)
"""In the result of a tool the agent is the one that reads it; in a contract it is a party."""


def without_orders(text: str, *, of_a_tool: bool = False) -> str:
    """The text with placeholders in the place of every order to the assistant, from the beginning of its sentence to
    the end of its paragraph; an order in a heading takes the paragraph behind it along. Positions stay the same.
    `of_a_tool` says that the text is the result of a tool of another server."""
    if not any(word.startswith(_TRIGGERS) for word in words_of(text)):
        return text
    small = text.translate(_SMALL).lower()
    first = _next_order(small, 0, of_a_tool=of_a_tool)
    if first is None:
        return text
    pieces, done = [], 0
    while first is not None:
        begin = first.start() + len(first[0]) - len(first[0].lstrip(_NO_WORD))
        start = max((m.end() for m in _SENTENCE_START.finditer(text, done, begin + 1)), default=done)
        end = _end_of_paragraph(text, first.end())
        line = text[text.rfind("\n", 0, begin + 1) + 1 : end]
        if _HEADING.fullmatch(line) or line.lstrip().startswith("#"):
            end = _end_of_paragraph(text, min(len(text), end + len(text[end:]) - len(text[end:].lstrip())))
        pieces += [text[done:start], _BLANK * (end - start)]
        done = end
        first = _next_order(small, done, of_a_tool=of_a_tool)
    return "".join([*pieces, text[done:]])


def orders_of(text: str, evidence: str) -> str:
    """What `without_orders` has left out of a text."""
    return "".join(ours for ours, kept in zip(text, evidence, strict=True) if kept == _BLANK)


def _next_order(text: str, start: int, *, of_a_tool: bool) -> "re.Match[str] | None":
    found = [_ORDER.search(text, start), _TO_TELL.search(text, start) if of_a_tool else None]
    return min((one for one in found if one is not None), key=lambda one: one.start(), default=None)


def _end_of_paragraph(text: str, start: int) -> int:
    ended = _PARAGRAPH_END.search(text, start)
    return ended.start() if ended else len(text)
