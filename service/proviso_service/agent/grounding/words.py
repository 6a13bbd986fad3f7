"""The words of sentences, in the form in which a statement is compared with its source."""

import re

from proviso_service.reading import without_joiners

_WORD = re.compile(r"[^\W_]+(?:['’&-][^\W_]+)*")
_STEM_CHARS = 5
_MIN_CHARS = 4

STOP_WORDS = frozenset(
    """
    zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen twenty thirty forty
    fifty sixty seventy eighty ninety hundred thousand million billion
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig hundert tausend million millionen deux
    trois quatre cinq six sept huit neuf dix onze douze vingt trente cent mille millions
    dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cien mil millones once twice
    a about above according accordingly after again against all also although always among an and another any are
    around as at be because been before being below
    between both but by can could did do does doing done during each either else etc even every for from further had
    has have
    having he her here hers him his how however i if in into is it its itself just may me might more most much must my
    neither no nor not nothing of off on once one only onto or other others our out over own per please same shall she
    should since so some such than that the their them then there thereby therefore these they this those through
    thus to
    too under until up upon us very was we were what when where whether which while who whom whose why will with within
    without would yes yet you your namely states stated state says said say provides provided provide means sets
    gives given give according following follows applies apply
    agreement agreements contract contracts clause clauses section sections document documents passage passages
    provision
    provisions paragraph paragraphs article articles text party parties matter file terms term under
    aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beide beiden beim bis da damit
    dann das dass dein dem den denn der des die dies diese diesem diesen dieser dieses
    doch dort durch ein eine einem einen einer eines er es für gegen gemäß haben hat hier ich ihr ihre ihrem ihren
    ihrer im in ist jede jedem jeden jeder jedes kann kein keine keinen laut
    man mit muss nach nicht noch nur ob oder ohne sein seine seinem seinen seiner sich sie sind so soll sondern
    sowie über um und uns unter vom von vor war was weil wenn werden wie wird wo zu zum zur
    vertrag vertrags vereinbarung klausel ziffer abschnitt dokument partei parteien
    à au aux avec ce ces cet cette comme dans de des dont du elle elles en entre est et être il ils je la le les
    leur leurs lors mais ne ni nous on ou où par pas pour plus que qui sa sans selon ses son sont sous sur un une
    vous contrat accord clause article
    al como con contra cual cuando de del desde donde durante el ella ellos en entre es esta este esto fue ha hasta
    la las le les lo los más ni no o para pero por que se según ser si sin sobre son su sus un una y contrato
    acuerdo cláusula
    """.split()
)
META = frozenset(
    word[:_STEM_CHARS]
    for word in """
    matter document documents passage passages clause clauses query queries satisfy satisfies match matches matching
    mention mentions hold holds words word type types kind kinds found find looked look looking search searched
    searches
    searching score scores scored ready process processed processing failed fail list listed lists file files name
    named names count counts total result results more less most least equal equally quoted quote quoted first
    second
    analysed answer answered question statement statements view viewed open opened whole other others section
    heading title pages page following these those below above called read text texts asked
    available provided returned return shown show here contain contains include includes number summary summaries
    attached uploaded only still being seen
    vertrag dokumente dokument stellen treffer gefunden durchsucht klausel klauseln dateien datei documents passages
    clauses trouvé trouvés recherche documentos cláusulas encontrado
    """.split()
)
"""Stems of the words with which an answer speaks of its search and of documents as such."""


def words_of(text: str) -> frozenset[str]:
    """All words of a text in small letters, also the parts of words with hyphens."""
    found = {match[0].casefold() for match in _WORD.finditer(without_joiners(text))}
    return frozenset(found | {part for word in found if not word.isalnum() for part in re.findall(r"[^\W_]+", word)})


def content_stems(text: str) -> frozenset[str]:
    """The beginnings of the words that tell what a text is about: without small words, numbers and the words that every
    contract has."""
    return frozenset(
        word[:_STEM_CHARS]
        for word in words_of(text)
        if len(word) >= _MIN_CHARS and word not in STOP_WORDS and not word.isdecimal()
    )
