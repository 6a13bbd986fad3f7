"""Which sentences of an answer state no facts: courtesies, questions back, refusals, and what the assistant says of its
own search. The phrases are data, by kind, in the languages in which people ask."""

import re
from enum import StrEnum

from proviso_service.agent.grounding.names import begins_with_a_role

_I = r"(?:i|we|ich|wir|je|j['’]|nous|on|yo|nosotros|io|noi|eu|nós|ik|wij|jag|vi|jeg|ja|my)"
_FLAGS = re.IGNORECASE


def _any(*phrases: str) -> "re.Pattern[str]":
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases), _FLAGS)


class Talk(StrEnum):
    """What a sentence that states no facts is: small talk, a question, a refusal, or a statement about the search."""

    COURTESY = "courtesy"
    QUESTION = "question"
    REFUSAL = "refusal"
    SEARCH = "search"


_QUESTION_MARKS = ("?", "？", "؟", ";\u037e")
_ENDING = "\"'”’»)*_ \n\t"

# A sentence that begins so is a courtesy when it says little more.
_COURTESIES = _any(
    r"^(?:hello|hi|hey|welcome|thanks|thank you|please|sorry|my apologies|apologies|you['’]re welcome|"
    r"you are welcome|goodbye|bye|"
    r"certainly|sure|of course|"
    r"good (?:day|morning|afternoon|evening))\b",
    r"^(?:hallo|guten (?:tag|morgen|abend)|danke|bitte|entschuldigung|entschuldigen|tschüss|gern|gerne|natürlich|"
    r"auf wiedersehen)\b",
    r"^(?:bonjour|bonsoir|salut|merci|désolée?|pardon|s['’]il vous plaît|veuillez|je vous en prie|au revoir|"
    r"bien sûr)\b",
    r"^(?:hola|buenos días|buenas (?:tardes|noches)|gracias|perdón|lo siento|por favor|de nada|claro)\b",
    r"^(?:ciao|buongiorno|buonasera|grazie|prego|per favore|mi dispiace|olá|bom dia|obrigad[oa]|hoi|dank je|dank u|"
    r"dag)\b",
)
_MAX_COURTESY_WORDS = 24

# What the assistant says of itself or asks of the person, in the first words of a sentence.
_ABOUT_ITSELF = _any(
    r"^(?:(?:if|once|when|as soon as|should) you\b[^,]{1,120}, )?(?:i|we)(?:['’](?:m|d|ll|ve)| am| can| could| would|"
    r" will| may| was| have)?(?: also| only| not|n['’]t| then| just| be| been| able to| happy to| glad to| like to)*"
    r" (?:help|look|search|searched|looked|looking|find|list|quote|show|read|answer|see|check|checked|compare|"
    r"summari[sz]e|explain what you|need|work|try|tried|assist|here|proviso|an? assistant|designed|built|made|only|"
    r"able|happy|glad|unable|afraid|sorry|understand|extract|classify|count|open|access|use|used|ran|went|reviewed|"
    r"review|consulted|provide|give you|tell you|quoting|searching|checking)\b",
    r"^(?:i|we)(?:['’]m| am| are)? (?:not )?(?:sure|certain) (?:which|what|whether|who|if)\b",
    r"^(?:you|you['’]re welcome to)(?: can| could| may| might)?(?: also| always| now| then)* (?:ask|select|name|"
    r"upload|try|choose|rephrase|specify|open|contact|consult|want to|wish to|see|view|tell me|let me know|check|"
    r"share|send|attach|clarify)\b",
    r"^(?:let me|let['’]s|feel free|just let|if you (?:like|want|wish|prefer|need|tell|name|upload|select|have)|"
    r"would you|do you|could you|shall i|should i)\b",
    r"^(?:please )(?:select|name|ask|tell|try|upload|check|consult|contact|rephrase|specify|clarify|let|open|choose|"
    r"send|share|see|attach|give|confirm which|say)\b",
    r"^(?:this|that) (?:is|was|does) (?:not|no) (?:constitute )?legal advice\b",
    r"^(?:your|the) (?:question|message)\b|^your request\b|^(?:ihre|deine|die) (?:frage|nachricht)\b|"
    r"^(?:ihre|deine) anfrage\b|^(?:votre|la) question\b|^votre demande\b|^(?:su|la) (?:pregunta|consulta)\b",
    r"^(?:it|that|this) depends on (?:what|which|whether|how|who|the meaning)\b",
    r"^ask (?:me|again|whenever|about|for|a|another|the)\b|^(?:fragen|frag) (?:sie|mich)\b|^demandez\b|^pregunte\b",
    r"^that is beyond (?:me|what i)\b",
    r"^(?:gern |gerne |natürlich )?(?:ich|wir) (?:kann|können|könnte|werde|helfe|suche|habe|bin|brauche|sehe|schaue|"
    r"möchte|würde|durchsuche|zitiere|prüfe|verstehe)\b",
    r"^(?:sie|du) (?:können|könnten|kannst) (?:mich|mir|auch|gern|gerne|ein|eine|einen|das|die)?\s?\w* ?(?:fragen|"
    r"wählen|auswählen|hochladen|nennen|bitten|präzisieren|mitteilen)\b",
    r"^(?:wenn|falls|sobald) sie\b[^,]{1,120}, (?:kann|suche|helfe|schaue|werde) ich\b",
    r"^(?:nennen|wählen|laden|fragen|teilen|sagen|geben|präzisieren|versuchen|stellen) sie\b",
    r"^(?:je (?:peux|pourrais|vais|suis|cherche|lis|vois|vous aide|ne peux|ne vois|ne suis|souhaite|comprends)|"
    r"j['’]ai (?:cherché|consulté|parcouru|besoin)|nous (?:pouvons|avons))\b",
    r"^(?:vous pouvez|pourriez-vous|pouvez-vous|n['’]hésitez pas|si vous (?:voulez|souhaitez|le souhaitez|précisez)|"
    r"dites-moi|indiquez|précisez|sélectionnez)\b",
    r"^(?:(?:yo )?(?:puedo|podría|no puedo|voy a|busco|he buscado|he consultado|busqué|necesito|soy|estoy|entiendo)|"
    r"puede (?:preguntar|seleccionar|subir|indicar)|si (?:quiere|desea|me indica)|dígame|indique|seleccione|"
    r"avíseme)\b",
    r"^(?:posso|non posso|cerco|ho cercato|ho consultato|se vuole|mi dica|può chiedere|ik kan|ik heb gezocht|"
    r"u kunt|pode|eu posso)\b",
)
# Words with which such a sentence goes over to facts: `I can tell you that the cap is unlimited`.
_FACTS_FOLLOW = _any(
    r"\b(?:that|dass|daß|que|che) (?:the|a|an|all|no|none|each|every|both|it|its|his|her|their|either|neither|any|"
    r"there|nothing|nobody|der|die|das|ein|eine|alle|kein\w*|es|er|jede\w*|beide|le|la|les|un|une|tous|toutes|il|"
    r"elle|ils|elles|aucun\w*|el|los|las|una|todos|todas|ningun\w*)\b",
    r"\b(?:that|dass|daß|que|che) (?!you\b|we\b|i\b)(?:\w+ ){1,2}(?:is|are|has|have|may|must|shall|will|can|was|were|"
    r"applies|does|do|"
    r"ist|sind|hat|muss|darf|kann|wird|gilt|est|sont|doit|peut|es|son|debe|puede)\b",
    r"\bqu['’](?:il|elle|aucun|un|une)\b",
    r"[:;–—] ?\w+ \w+ \w+ \w+",
    r"\b(?:but the|however|aber der|aber die|mais le|mais la|pero el)\b",
)

# A statement that only ends like a question.
_TAG = _any(
    r"[,;–—-] ?(?:isn['’]t|doesn['’]t|aren['’]t|don['’]t|won['’]t|can['’]t|hasn['’]t|wasn['’]t|is|does|right|correct|"
    r"no|yes|ok(?:ay)?|nicht wahr|oder|richtig|stimmt['’s]*|ja|n['’]est-ce pas|non|verdad|no es así|"
    r"vero)\b[\w ’']{0,10}\W*\Z"
)

# What can only be said of a search, or of what is missing: the contract's own sentence among them.
_REFUSALS = _any(
    r"\b(?:do|does|did|could|can|was|were|am|is|are|have|has|had)(?:n['’]t| not) (?:\w+ ){0,3}(?:answer|settle|help|"
    r"speak|touch|enough|sufficient|any|find|found|able|locate|determine|tell|answer|know|see|contain|say|state|"
    r"mention|address|specify|provide|include|give|have|cover|hold|indicate|available|stated|specified|mentioned|"
    r"addressed|provided|included|covered|found|clear|match)\b",
    r"\b(?:cannot|can['’]t|unable to|not able to|couldn['’]t) (?:\w+ ){0,2}(?:predict|be (?:answered|determined|told|"
    r"said|found|confirmed|established)|answer|find|determine|tell|say|confirm|"
    r"verify|locate|provide|help|see|look|give|identify|establish|conclude|read)\b",
    r"\b(?:no|insufficient|not enough|too little|nothing) (?:\w+ ){0,3}(?:information|mention|reference|answer|"
    r"passage|passages|clause|clauses|provision|provisions|document|documents|result|results|match|matches|evidence|"
    r"statement|basis|source|sources|indication|was found|were found|is found|satisfies|matches|in the)\b",
    r"\b(?:found|find|returned|returns|gave) (?:no|none|nothing|neither|0|zero)\b",
    r"^(?:none|neither|no one) of (?:them|these|those|the|it)\b|^kein\w* (?:davon|der|von)\b|"
    r"^(?:aucune?) (?:d['’]entre eux|de ces|des)\b|^ningun[oa] de\b",
    r"\b(?:steht|stehen|findet|finden|gibt)\b.{0,60}\b(?:nichts|keine?[rnms]?)\b|\b(?:kann|können|"
    r"konnte)\b.{0,100}\bnicht\b.{0,20}\b(?:beantworten|geben|nennen|sagen|finden|helfen|belegen|bestätigen)\b",
    r"\b(?:sagen|sagt|enthalten|enthält|regeln|regelt)\b.{0,60}\bnichts\b",
    r"\b(?:nothing|no \w+) (?:is|are|was|were) (?:said|stated|mentioned|provided|specified|agreed|given|laid down|"
    r"set out|made)\b",
    r"\bne disent\b|\bne dit\b|\bno dicen?\b|\bnon dicono\b|\bnon dice\b|\bniets\b",
    r"\b(?:silent on|silent about|missing from|absent from|not (?:among|part of) (?:the|these|those) (?:documents|"
    r"sources|passages))\b",
    r"\b(?:keine?[rnms]?|nicht|nichts|weder)\b.{0,80}\b(?:information\w*|gefunden|finde|finden|beantworten|enthalten|"
    r"enthält|angaben?|hinweis\w*|auskunft|belegen|entnehmen|genannt|erwähnt|geregelt|regelung\w*|klauseln?|stellen?|"
    r"passagen?|fundstellen?|sagen|feststellen|ermitteln|bestimmen|vorhanden|ersichtlich|treffer|ausreichend\w*|"
    r"genügend|dokumente?n?|unterlagen|quellen?)\b",
    r"\b(?:liegen|habe|enthalten|reichen)\b.{0,60}\b(?:keine|nicht)\b",
    r"\b(?:ne|n['’])\b.{0,60}\b(?:pas|aucune?|rien|ni)\b.{0,80}\b(?:information\w*|trouv\w+|répond\w*|réponse|"
    r"mention\w*|conten\w+|contien\w+|indiqu\w+|précis\w+|document\w*|clause\w*|passage\w*|source\w*|déterminer|"
    r"suffisamment|assez|élément\w*|disposition\w*|figure\w*|permet\w*)\b",
    r"\b(?:ne|n['’])\s?(?:\w+['’])?\w+ (?:pas|rien|aucune?)\b.{0,60}\b(?:trouvé|répondre|dire|savoir|assez|"
    r"suffisamment|voir)\b",
    r"\b(?:pas assez|aucune?|insuffisant\w*)\b.{0,40}\b(?:information\w*|mention|clause\w*|passage\w*|réponse|"
    r"document\w*|disposition\w*|trouvée?s?)\b",
    r"\bno\b.{0,60}\b(?:encontr\w+|información|respond\w+|responder|determinar|contien\w+|mencion\w+|menciona|"
    r"indic\w+|hay|tengo|dispongo|figura\w*|consta\w*|suficiente\w*|puedo)\b",
    r"\b(?:ningun[oa]?|insuficiente\w*|nada)\b.{0,60}\b(?:información|cláusula\w*|pasaje\w*|documento\w*|mención|"
    r"disposición|encontr\w+)\b",
    r"\bnon\b.{0,60}\b(?:trov\w+|informazioni|rispondere|conten\w+|contien\w+|menzion\w+|indica\w*|suffic\w+|"
    r"dispong\w+|posso|risulta\w*|c['’]è|ci sono|ho)\b",
    r"\b(?:nessun[oa]?|nulla)\b.{0,60}\b(?:informazion\w+|clausol\w+|passagg\w+|document\w+|menzione|trovat\w+)\b",
    r"\b(?:não|nenhuma?)\b.{0,60}\b(?:encontr\w+|informaç\w+|respond\w+|contém|menciona\w*|suficient\w+|documento\w*|"
    r"cláusula\w*|há|tenho)\b",
    r"\b(?:niet|geen|onvoldoende)\b.{0,60}\b(?:informatie|gevonden|vinden|beantwoorden|vermeld\w*|bevat\w*|genoeg|"
    r"documenten?|bepaling\w*|zeggen|clausules?)\b",
    r"\b(?:nie|brak)\b.{0,60}\b(?:informacji|znalaz\w+|znaleź\w+|odpowiedzieć|zawiera\w*|wystarczając\w+|dokument\w*|"
    r"mogę)\b",
    r"\b(?:inte|ingen|inga|ikke|ikkje|ei|en löytänyt|nem|není|nenašel|nemám|nu am|nu pot|yeterli|bulamad\w+|"
    r"bilgi yok)\b.{0,60}(?:information\w*|hitta\w*|finn\w*|funn\w*|find\w*|oplysning\w*|svar\w*|tietoa|"
    r"információ\w*|talál\w+|informac\w+|informații\w*|găsi\w*|bilgi\w*|\Z)",
    r"(?:недостаточно|не наш[её]л|не могу|нет информации|не содерж\w+|недостатньо|не знайш\w+|δεν (?:βρήκα|υπάρχ\w+|"
    r"έχω)|לא (?:מצאתי|נמצא)|لا (?:توجد|تتوفر|أجد)|لم أجد|情報(?:が|は)?(?:あり|見つ)\w*|見つかりません|わかりません|"
    r"没有(?:足够|找到)|未找到|信息不足|"
    r"沒有(?:足夠|找到)|정보가 (?:없|부족)|찾을 수 없)",
)
_SEARCH = _any(
    r"^(?:not (?:found|quoted|searched|analysed|shown)|nicht gefunden|non trouvés?|no encontrad\w+):",
    r"^there (?:is|are) (?:more than one|several|many|\w+) (?:such )?(?:contracts?|agreements?|documents?|"
    r"files?)\b(?! (?:that|which|with))",
    r"^(?:all|both|none|only|\w+)(?: of (?:the|these|them))? ?(?:\w+ )?(?:documents?|contracts?|agreements?|"
    r"files?)\b.{0,20}\b(?:is|are|was|were) (?:ready|being processed|still|not ready|searched|available)\b",
    r"^(?:es gibt|il y a|hay) (?:mehrere|\w+|plusieurs|varios|más de un) (?:dokumente?|verträge|dateien|documents?|"
    r"contrats?|fichiers?|documentos?|contratos?|archivos?)\b",
    r"\b(?:i|we)(?:['’]ve| have)? (?:only )?(?:searched|looked|checked|read|went through|reviewed|consulted|ran|"
    r"analysed|analyzed|compared|counted|found)\b",
    r"\b(?:the|my|this|that) (?:search|query|lookup|tool|call|retrieval)\b",
    r"\b(?:passages?|clauses?|documents?|results?|matches|files?|types?)\b.{0,40}\b(?:satisf\w+|match\w*|mention\w*|"
    r"searched|not searched|analysed|listed|found|hold the words|being processed|not quoted|quoted here|"
    r"ready for search)\b",
    r"^(?:the )?(?:following|these|here|below|above|the passages? (?:below|above))\b",
    r"^(?:here (?:is|are)|as (?:quoted|listed|shown) (?:above|below))\b",
    r"\b(?:ich|wir)\b.{0,30}\b(?:durchsucht|gesucht|geprüft|gelesen|gefunden|nachgesehen)\b",
    r"^(?:die suche|meine suche|die folgenden|folgende|hier (?:ist|sind)|nachfolgend)\b",
    r"\b(?:j['’]ai|nous avons)\b.{0,30}\b(?:cherché|recherché|consulté|parcouru|lu|trouvé|vérifié)\b",
    r"^(?:la recherche|ma recherche|voici|les passages suivants|ci-dessous)\b",
    r"\b(?:he|hemos)\b.{0,30}\b(?:buscado|consultado|revisado|leído|encontrado)\b",
    r"^(?:la búsqueda|mi búsqueda|aquí (?:está|están|tiene)|los siguientes|a continuación)\b",
)
_LEAD = re.compile(r"^[\s>*_#\-–—•·|]*(?:\d{1,3}[.)]\s+)?[*_]*")


_APOLOGY = re.compile(
    r"\A(?:(?:i['’]?m |i am )?(?:very |so )?(?:sorry|afraid)|es tut mir leid|(?:je suis )?désolée?|lo siento|"
    r"mi dispiace)"
    r"(?:,| but|, but| that|, aber|, mais|, pero|, ma)?\s+(?=\w)",
    re.IGNORECASE,
)


def kind_of_talk(sentence: str) -> Talk | None:
    """What a sentence is that states no facts of its own; None for a statement of facts. Whether its figures, names and
    counts are true has to be looked at besides."""
    bare = _APOLOGY.sub("", _LEAD.sub("", sentence).strip())
    if not any(character.isalnum() for character in bare):
        return Talk.COURTESY
    if bare.rstrip(_ENDING).endswith(_QUESTION_MARKS):
        return None if _TAG.search(bare) else Talk.QUESTION
    if _REFUSALS.search(bare) and not _goes_on(bare) and (speaks_of_itself(bare) or _is_about_documents(bare)):
        return Talk.REFUSAL
    gives_reasons = _BECAUSE.search(bare) is not None and states_duties(bare)
    if (_FACTS_FOLLOW.search(bare) or gives_reasons) and not bare.lower().startswith(_LISTS):
        return None
    return Talk.COURTESY if _is_courtesy(bare) else _search(bare)


_LISTS = ("not found:", "not quoted:", "not searched:", "not analysed:", "nicht gefunden:")


def _is_courtesy(bare: str) -> bool:
    is_short = len(bare.split()) <= _MAX_COURTESY_WORDS and not states_duties(bare)
    return (is_short and _COURTESIES.search(bare) is not None) or _ABOUT_ITSELF.search(bare) is not None


def _search(bare: str) -> Talk | None:
    return Talk.SEARCH if _SEARCH.search(bare) and not _goes_on(bare) else None


_SPEAKER = re.compile(rf"(?:\A|[\s,(]){_I}\b", _FLAGS)
_SPEAKER_CHARS = 60
_DOCUMENTS = _any(
    r"\b(?:documents?|agreements?|contracts?|passages?|sources?|files?|texts?|clauses?|provisions?|sections?|"
    r"matters?|documentation|summar(?:y|ies)|references?|results?|search|information|there|image)\b|^(?:none|"
    r"neither) of\b|^nothing is\b",
    r"\b(?:dokumente?n?|\w*vertr[aä]g\w*|vereinbarung(?:en)?|stellen?|passagen?|quellen?|datei(?:en)?|klauseln?|"
    r"texte?|unterlagen|informationen|suche|akten?|angaben|treffer)\b",
    r"\b(?:documents?|contrats?|accords?|passages?|sources?|fichiers?|clauses?|textes?|dossiers?|informations?|"
    r"recherche)\b",
    r"\b(?:documentos?|contratos?|acuerdos?|pasajes?|fuentes?|archivos?|cláusulas?|textos?|expediente|información|"
    r"búsqueda)\b",
    r"\b(?:documenti|documento|contratt[oi]|clausol[ae]|passagg\w+|informazioni|font[ei]|ricerca|documenten|"
    r"informatie|dokument\w*|informac\w+|informatie|informaç\w+|document\w*|oplysning\w*|tietoa)\b",
    r"(?:документ|информац|інформац|έγγραφ|πληροφορ|מסמ|מידע|المستند|معلومات|文書|情報|文件|信息|資訊|문서|정보)",
)


def speaks_of_itself(sentence: str) -> bool:
    """Whether the sentence begins with what the assistant says of itself."""
    return _SPEAKER.search(sentence[:_SPEAKER_CHARS]) is not None


def _is_about_documents(sentence: str) -> bool:
    return _DOCUMENTS.search(sentence) is not None and not begins_with_a_role(sentence)


# Words that only a statement about parties and their duties has.
_STATES = _any(
    r"\b(?:shall|must|owes?|liable|liability|entitled|obliged|obligated|terminates?|expires?|governed|pays?|payable|"
    r"void|unlimited|waived?|breach(?:ed)?|invalid|applies|indemnif\w+|haftet|muss|gilt|schuldet|endet|nichtig|"
    r"unbegrenzt|doit|responsable|résili\w+|illimité\w*|nul(?:le)?|debe|nul[oa]|ilimitad\w+|responsabilidad)\b"
)


def states_duties(text: str) -> bool:
    """Whether a sentence has words that only a statement about parties, their duties and rights has."""
    return _STATES.search(text) is not None


_TURNS = _any(
    r"[,;] (?:but|however|though|although|yet|except|aber|jedoch|allerdings|sondern|mais|cependant|toutefois|sauf|"
    r"pero|sin embargo|salvo)\b",
    r"[,;] (?!so (?:there is nothing|i\b|we\b|please\b|it can|they can|no\b))(?:so|therefore|thus|hence|which means|"
    r"meaning|and therefore|daher|also|somit|folglich|donc|alors|"
    r"por lo tanto|por tanto|quindi) ",
    r"\bnot\b.{0,40}\bexcept\b",
    r"[–—;:] ?\w+ \w+ \w+ (?:is|are|shall|must|may)\b",
)


_BECAUSE = _any(r"\b(?:because|since|as (?:the|it)|weil|denn|car|parce que|porque)\b")


def _goes_on(text: str) -> bool:
    """Whether a refusal goes on with a statement: `I found no cap, but liability is unlimited`."""
    if _BECAUSE.search(text) and states_duties(text):
        return True
    turn = _TURNS.search(text)
    return turn is not None and not re.match(
        r"[,;] (?:but|however|aber|jedoch|mais|pero) (?:i|we|ich|wir|je|yo|the others|other|in other|andere|"
        r"in anderen|d['’]autres|otros)\b",
        text[turn.start() :],
        _FLAGS,
    )
