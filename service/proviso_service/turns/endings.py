"""What each end of a turn means for a caller, and the words that a person reads, in the language of the question.

This is the only table of it. An exit cause goes before the exit reason. Only `NOTHING_FOUND` speaks about the
documents: no technical failure may read as a finding about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proviso_service.language import ENGLISH
from proviso_service.turns.records import ExitCause, ExitReason, Retryable

Texts = Mapping[str, str]
"""The same sentence in several languages, by their codes; English is always among them."""

NOT_ENOUGH_INFORMATION = "I don't have enough information in the current documentation to answer that."
"""The answer where the documents hold none, in English, as the behavioural contract prescribes it."""


def in_language(texts: Texts, language: str, **figures: object) -> str:
    """The text in this language, else in English. `figures` fill its placeholders."""
    text = texts.get(language, texts[ENGLISH])
    return text.format(**figures) if figures else text


def filled(texts: Texts, **figures: object) -> Texts:
    """The texts with their placeholders filled."""
    return {language: text.format(**figures) for language, text in texts.items()}


@dataclass(frozen=True, slots=True)
class ExitSemantics:
    """What an end of a turn means for a caller. `texts` are empty where the agent writes the text or nothing is
    shown."""

    retryable: Retryable
    display_message: bool
    texts: Texts = field(default_factory=dict)

    @property
    def message(self) -> str:
        """The text in English."""
        return self.text(ENGLISH)

    def text(self, language: str, **figures: object) -> str:
        """The text in this language, else in English."""
        return in_language(self.texts, language, **figures) if self.texts else ""


def _says(retryable: Retryable, *, en: str, de: str, fr: str, es: str) -> ExitSemantics:
    return ExitSemantics(retryable, display_message=True, texts={"en": en, "de": de, "fr": fr, "es": es})


EXIT_SEMANTICS: Mapping[ExitReason, ExitSemantics] = {
    ExitReason.COMPLETED: ExitSemantics(Retryable.NOT_APPLICABLE, display_message=True),
    ExitReason.MAX_TURNS_REACHED: _says(
        Retryable.YES,
        en="I could not finish this within the number of steps I am allowed. "
        "Please rephrase the question or ask for less at once.",
        de="Ich konnte das in der erlaubten Zahl von Schritten nicht abschließen. "
        "Bitte formulieren Sie die Frage um oder fragen Sie weniger auf einmal.",
        fr="Je n'ai pas pu terminer dans le nombre d'étapes autorisé. "
        "Veuillez reformuler la question ou demander moins à la fois.",
        es="No he podido terminar en el número de pasos permitido. "
        "Por favor, reformule la pregunta o pida menos a la vez.",
    ),
    # Where the answer step wrote a text, that text is the message.
    ExitReason.MAX_TOOL_CALLS_REACHED: _says(
        Retryable.YES,
        en="I reached the number of look-ups that I am allowed for one question before I had an answer. "
        "Please ask for less at once.",
        de="Ich habe die erlaubte Zahl von Nachschlagevorgängen für eine Frage erreicht, bevor ich eine Antwort hatte. "
        "Bitte fragen Sie weniger auf einmal.",
        fr="J'ai atteint le nombre de recherches autorisé pour une question avant d'avoir une réponse. "
        "Veuillez demander moins à la fois.",
        es="He alcanzado el número de búsquedas permitido para una pregunta antes de tener una respuesta. "
        "Por favor, pida menos a la vez.",
    ),
    ExitReason.MAX_CONTEXT_REACHED: _says(
        Retryable.NO,
        en="This conversation has grown longer than I can take into account. "
        "Please start a new conversation so that my answers rest on all of it.",
        de="Dieses Gespräch ist länger geworden, als ich berücksichtigen kann. "
        "Bitte beginnen Sie ein neues Gespräch, damit meine Antworten auf allem beruhen.",
        fr="Cette conversation est devenue plus longue que ce que je peux prendre en compte. "
        "Veuillez en commencer une nouvelle pour que mes réponses tiennent compte de tout.",
        es="Esta conversación es más larga de lo que puedo tener en cuenta. "
        "Por favor, empiece una nueva para que mis respuestas se basen en toda ella.",
    ),
    ExitReason.EMPTY_INPUT: ExitSemantics(Retryable.YES, display_message=False),
    ExitReason.RATE_LIMITED: _says(
        Retryable.YES,
        en="The language model is receiving too many requests just now. Please try again shortly.",
        de="Das Sprachmodell erhält gerade zu viele Anfragen. Bitte versuchen Sie es in Kürze noch einmal.",
        fr="Le modèle de langage reçoit trop de demandes en ce moment. Veuillez réessayer dans un instant.",
        es="El modelo de lenguaje está recibiendo demasiadas solicitudes. Por favor, inténtelo de nuevo en breve.",
    ),
    ExitReason.LLM_ERROR: _says(
        Retryable.MAYBE,
        en="An internal error kept the language model from answering. Please try again.",
        de="Ein interner Fehler hat eine Antwort des Sprachmodells verhindert. Bitte versuchen Sie es noch einmal.",
        fr="Une erreur interne a empêché le modèle de langage de répondre. Veuillez réessayer.",
        es="Un error interno ha impedido que el modelo de lenguaje responda. Por favor, inténtelo de nuevo.",
    ),
    ExitReason.LLM_GENERATION_FAILURE: _says(
        Retryable.YES,
        en="The language model wrote nothing that I can use as an answer. Please ask again or in other words.",
        de="Das Sprachmodell hat nichts geschrieben, was ich als Antwort verwenden kann. "
        "Bitte fragen Sie noch einmal oder mit anderen Worten.",
        fr="Le modèle de langage n'a rien écrit que je puisse utiliser comme réponse. "
        "Veuillez poser la question à nouveau ou autrement.",
        es="El modelo de lenguaje no ha escrito nada que pueda usar como respuesta. "
        "Por favor, pregunte de nuevo o con otras palabras.",
    ),
    ExitReason.INVALID_TOOL_CALL: _says(
        Retryable.YES,
        en="I could not use my tools correctly for this question. Please rephrase it and try again.",
        de="Ich konnte meine Werkzeuge für diese Frage nicht richtig verwenden. "
        "Bitte formulieren Sie sie um und versuchen Sie es noch einmal.",
        fr="Je n'ai pas pu utiliser correctement mes outils pour cette question. Veuillez la reformuler et réessayer.",
        es="No he podido usar bien mis herramientas para esta pregunta. Por favor, reformúlela e inténtelo de nuevo.",
    ),
    ExitReason.CANCELLED: ExitSemantics(Retryable.NOT_APPLICABLE, display_message=False),
    ExitReason.DEADLINE_EXCEEDED: _says(
        Retryable.YES,
        en="This took longer than the time I am allowed. Please try again or ask for less at once.",
        de="Das hat länger gedauert als erlaubt. "
        "Bitte versuchen Sie es noch einmal oder fragen Sie weniger auf einmal.",
        fr="Cela a pris plus de temps que permis. Veuillez réessayer ou demander moins à la fois.",
        es="Esto ha tardado más de lo permitido. Por favor, inténtelo de nuevo o pida menos a la vez.",
    ),
    ExitReason.INTERNAL_ERROR: _says(
        Retryable.MAYBE,
        en="An internal error kept me from answering. Please try again.",
        de="Ein interner Fehler hat eine Antwort verhindert. Bitte versuchen Sie es noch einmal.",
        fr="Une erreur interne m'a empêché de répondre. Veuillez réessayer.",
        es="Un error interno me ha impedido responder. Por favor, inténtelo de nuevo.",
    ),
}
"""What an exit reason means where no cause is known."""

CAUSE_SEMANTICS: Mapping[ExitCause, ExitSemantics] = {
    ExitCause.BLOCKED: _says(
        Retryable.NO,
        en="The provider of the language model blocked this question or its answer by its safety rules. That says "
        "nothing about your documents. The same question will be blocked again: please ask it in other words.",
        de="Der Anbieter des Sprachmodells hat diese Frage oder ihre Antwort nach seinen Sicherheitsregeln blockiert. "
        "Das sagt nichts über Ihre Dokumente. Dieselbe Frage würde wieder blockiert: "
        "bitte stellen Sie sie mit anderen Worten.",
        fr="Le fournisseur du modèle de langage a bloqué cette question ou sa réponse selon ses règles de sécurité. "
        "Cela ne dit rien de vos documents. La même question serait à nouveau bloquée : "
        "veuillez la poser en d'autres termes.",
        es="El proveedor del modelo de lenguaje ha bloqueado esta pregunta o su respuesta por sus reglas de seguridad. "
        "Eso no dice nada de sus documentos. La misma pregunta se bloquearía otra vez: "
        "por favor, hágala con otras palabras.",
    ),
    ExitCause.CUT: _says(
        Retryable.NO,
        en="The answer became longer than the language model may write and was cut off, so I do not show it. "
        "Please ask for less at once, for example about one document or one clause.",
        de="Die Antwort wurde länger, als das Sprachmodell schreiben darf, und brach ab; deshalb zeige ich sie nicht. "
        "Bitte fragen Sie weniger auf einmal, zum Beispiel zu einem Dokument oder einer Klausel.",
        fr="La réponse est devenue plus longue que ce que le modèle de langage peut écrire et a été coupée ; je ne "
        "l'affiche donc pas. Veuillez demander moins à la fois, par exemple sur un document ou une clause.",
        es="La respuesta era más larga de lo que el modelo de lenguaje puede escribir y quedó cortada, así que no la "
        "muestro. Por favor, pida menos a la vez, por ejemplo sobre un documento o una cláusula.",
    ),
    ExitCause.RECITATION: _says(
        Retryable.NO,
        en="The provider of the language model held the answer back because it repeats a published text. "
        "Please ask about a single point, or for a summary.",
        de="Der Anbieter des Sprachmodells hat die Antwort zurückgehalten, weil sie einen veröffentlichten Text "
        "wiederholt. Bitte fragen Sie nach einem einzelnen Punkt oder nach einer Zusammenfassung.",
        fr="Le fournisseur du modèle de langage a retenu la réponse parce qu'elle reprend un texte publié. "
        "Veuillez poser une question sur un seul point, ou demander un résumé.",
        es="El proveedor del modelo de lenguaje ha retenido la respuesta porque repite un texto publicado. "
        "Por favor, pregunte por un solo punto o pida un resumen.",
    ),
    ExitCause.LANGUAGE: _says(
        Retryable.NO,
        en="The language model does not support the language of this question. Please ask in another one.",
        de="Das Sprachmodell unterstützt die Sprache dieser Frage nicht. Bitte fragen Sie in einer anderen.",
        fr="Le modèle de langage ne prend pas en charge la langue de cette question. Veuillez en utiliser une autre.",
        es="El modelo de lenguaje no admite el idioma de esta pregunta. Por favor, pregunte en otro.",
    ),
    ExitCause.EMPTY: _says(
        Retryable.YES,
        en="The language model returned nothing, twice. That says nothing about your documents. Please ask again.",
        de="Das Sprachmodell hat zweimal nichts zurückgegeben. Das sagt nichts über Ihre Dokumente. "
        "Bitte fragen Sie noch einmal.",
        fr="Le modèle de langage n'a rien renvoyé, deux fois de suite. Cela ne dit rien de vos documents. "
        "Veuillez poser la question à nouveau.",
        es="El modelo de lenguaje no ha devuelto nada, dos veces. Eso no dice nada de sus documentos. "
        "Por favor, pregunte de nuevo.",
    ),
    ExitCause.MALFORMED: _says(
        Retryable.YES,
        en="The language model twice wanted to look something up in a form that could not be read. That says nothing "
        "about your documents. Please ask again or in other words.",
        de="Das Sprachmodell wollte zweimal etwas in einer Form nachschlagen, die nicht lesbar war. Das sagt nichts "
        "über Ihre Dokumente. Bitte fragen Sie noch einmal oder mit anderen Worten.",
        fr="Le modèle de langage a voulu deux fois faire une recherche sous une forme illisible. Cela ne dit rien de "
        "vos documents. Veuillez poser la question à nouveau ou autrement.",
        es="El modelo de lenguaje ha querido buscar algo dos veces en una forma que no se pudo leer. Eso no dice nada "
        "de sus documentos. Por favor, pregunte de nuevo o con otras palabras.",
    ),
    ExitCause.UNGROUNDED: _says(
        Retryable.YES,
        en="I could not back my answer with the sources, so I do not show it. "
        "Please ask more precisely, or name the document or the words to look for.",
        de="Ich konnte meine Antwort nicht mit den Quellen belegen; deshalb zeige ich sie nicht. "
        "Bitte fragen Sie genauer, oder nennen Sie das Dokument oder die Wörter, nach denen ich suchen soll.",
        fr="Je n'ai pas pu appuyer ma réponse sur les sources ; je ne l'affiche donc pas. "
        "Veuillez préciser la question, ou indiquer le document ou les mots à chercher.",
        es="No he podido respaldar mi respuesta con las fuentes, así que no la muestro. "
        "Por favor, precise la pregunta o indique el documento o las palabras que debo buscar.",
    ),
    ExitCause.NOTHING_FOUND: _says(
        Retryable.YES,
        en=NOT_ENOUGH_INFORMATION,
        de="Die vorliegenden Unterlagen enthalten nicht genügend Informationen, um das zu beantworten.",
        fr="La documentation actuelle ne contient pas assez d'informations pour répondre à cette question.",
        es="La documentación actual no contiene suficiente información para responder a esa pregunta.",
    ),
    ExitCause.STOPPED: _says(
        Retryable.MAYBE,
        en="The provider of the language model ended the answer without giving a reason. "
        "Please ask again, or in other words if it happens once more.",
        de="Der Anbieter des Sprachmodells hat die Antwort ohne Angabe eines Grundes beendet. "
        "Bitte fragen Sie noch einmal, oder mit anderen Worten, wenn es wieder geschieht.",
        fr="Le fournisseur du modèle de langage a mis fin à la réponse sans donner de raison. "
        "Veuillez réessayer, ou reformuler si cela se reproduit.",
        es="El proveedor del modelo de lenguaje ha terminado la respuesta sin dar un motivo. "
        "Por favor, pregunte de nuevo, o con otras palabras si vuelve a ocurrir.",
    ),
    ExitCause.MESSAGE_TOO_LONG: _says(
        Retryable.NO,
        en="This message is too long: at most {limit} characters fit. "
        "Please shorten it, or upload the text as a document of the matter and ask about it.",
        de="Diese Nachricht ist zu lang: höchstens {limit} Zeichen haben Platz. "
        "Bitte kürzen Sie sie, oder laden Sie den Text als Dokument der Akte hoch und fragen Sie danach.",
        fr="Ce message est trop long : {limit} caractères au plus peuvent être traités. "
        "Veuillez le raccourcir, ou téléverser le texte comme document du dossier et poser une question à son sujet.",
        es="Este mensaje es demasiado largo: caben como máximo {limit} caracteres. "
        "Por favor, acórtelo, o suba el texto como documento del asunto y pregunte por él.",
    ),
    ExitCause.CONVERSATION_FULL: _says(
        Retryable.NO,
        en="This conversation is full: it has no room for this message. "
        "Please start a new conversation, which can take along what this one is about and its last answers.",
        de="Dieses Gespräch ist voll: für diese Nachricht ist kein Platz mehr. Bitte setzen Sie es in einem neuen "
        "Gespräch fort; es kann übernehmen, worum es hier geht, und die letzten Antworten.",
        fr="Cette conversation est pleine : il n'y a plus de place pour ce message. Veuillez continuer dans une "
        "nouvelle conversation, qui peut reprendre le sujet de celle-ci et ses dernières réponses.",
        es="Esta conversación está llena: no hay sitio para este mensaje. Por favor, continúe en una conversación "
        "nueva, que puede llevarse el tema de esta y sus últimas respuestas.",
    ),
    ExitCause.PROVIDER_PAUSED: _says(
        Retryable.YES,
        en="The language model has kept failing, so I do not call it for a moment. Please try again shortly.",
        de="Das Sprachmodell ist wiederholt ausgefallen; deshalb rufe ich es für einen Moment nicht auf. "
        "Bitte versuchen Sie es in Kürze noch einmal.",
        fr="Le modèle de langage a échoué à plusieurs reprises ; je ne l'appelle donc pas pour l'instant. "
        "Veuillez réessayer dans un moment.",
        es="El modelo de lenguaje ha fallado varias veces, así que no lo llamo por un momento. "
        "Por favor, inténtelo de nuevo en breve.",
    ),
    ExitCause.PROVIDER_FAILED: _says(
        Retryable.YES,
        en="The language model could not be reached or failed. Please try again.",
        de="Das Sprachmodell war nicht erreichbar oder ist ausgefallen. Bitte versuchen Sie es noch einmal.",
        fr="Le modèle de langage n'a pas pu être joint ou a échoué. Veuillez réessayer.",
        es="No se ha podido contactar con el modelo de lenguaje o ha fallado. Por favor, inténtelo de nuevo.",
    ),
    ExitCause.PROVIDER_REFUSED: _says(
        Retryable.NO,
        en="The provider of the language model refused the call. Trying again will not help: "
        "please tell whoever runs this service.",
        de="Der Anbieter des Sprachmodells hat den Aufruf abgelehnt. Ein neuer Versuch hilft nicht: "
        "bitte sagen Sie denen Bescheid, die diesen Dienst betreiben.",
        fr="Le fournisseur du modèle de langage a refusé l'appel. Réessayer ne servira à rien : "
        "veuillez prévenir les responsables de ce service.",
        es="El proveedor del modelo de lenguaje ha rechazado la llamada. Intentarlo de nuevo no servirá: "
        "por favor, avise a quienes gestionan este servicio.",
    ),
    ExitCause.OVER_BUDGET: _says(
        Retryable.NO,
        en="The budget or quota for the language model is used up. It will answer again once that is renewed: "
        "please tell whoever runs this service.",
        de="Das Budget oder Kontingent für das Sprachmodell ist aufgebraucht. Es antwortet wieder, sobald es erneuert "
        "ist: bitte sagen Sie denen Bescheid, die diesen Dienst betreiben.",
        fr="Le budget ou le quota du modèle de langage est épuisé. Il répondra de nouveau une fois renouvelé : "
        "veuillez prévenir les responsables de ce service.",
        es="El presupuesto o la cuota del modelo de lenguaje se ha agotado. Volverá a responder cuando se renueve: "
        "por favor, avise a quienes gestionan este servicio.",
    ),
    ExitCause.ABANDONED: _says(
        Retryable.YES,
        en="I stopped working on this because nobody was connected any more. Please ask again.",
        de="Ich habe die Arbeit daran beendet, weil niemand mehr verbunden war. Bitte fragen Sie noch einmal.",
        fr="J'ai arrêté ce travail parce que plus personne n'était connecté. Veuillez poser la question à nouveau.",
        es="He dejado de trabajar en esto porque ya no había nadie conectado. Por favor, pregunte de nuevo.",
    ),
    ExitCause.STOPPING: _says(
        Retryable.YES,
        en="The service was stopped while I worked on this. Please ask again.",
        de="Der Dienst wurde angehalten, während ich daran gearbeitet habe. Bitte fragen Sie noch einmal.",
        fr="Le service a été arrêté pendant que je travaillais. Veuillez poser la question à nouveau.",
        es="El servicio se detuvo mientras trabajaba en esto. Por favor, pregunte de nuevo.",
    ),
    ExitCause.CANCELLED_BY_CALLER: ExitSemantics(Retryable.NOT_APPLICABLE, display_message=False),
}
"""What an exit cause means, with whichever exit reason it comes."""

REST_LEFT_OUT: Texts = {
    "en": " …\n\n[The answer was too long, so its rest is left out. Please ask for less at once.]",
    "de": " …\n\n[Die Antwort war zu lang, deshalb fehlt ihr Rest. Bitte fragen Sie nach weniger auf einmal.]",
    "fr": " …\n\n[La réponse était trop longue, la suite manque donc. Veuillez demander moins à la fois.]",
    "es": " …\n\n[La respuesta era demasiado larga, por eso falta el resto. Por favor, pregunte por menos a la vez.]",
}
"""What ends an answer whose rest was left out."""

CANNOT_RESUME: Texts = {
    "en": "This question waited for an approval, and I cannot go on with it since the service was started anew. "
    "The call that waited was not made. Please ask again.",
    "de": "Diese Frage wartete auf eine Genehmigung, und nach dem Neustart des Dienstes kann ich sie nicht "
    "fortsetzen. Der wartende Aufruf wurde nicht ausgeführt. Bitte fragen Sie noch einmal.",
    "fr": "Cette question attendait une autorisation, et je ne peux pas la reprendre depuis le redémarrage du service. "
    "L'appel en attente n'a pas été fait. Veuillez poser la question à nouveau.",
    "es": "Esta pregunta esperaba una autorización, y no puedo continuarla desde que se reinició el servicio. "
    "La llamada pendiente no se hizo. Por favor, pregunte de nuevo.",
}
"""The message of a turn that waited for an approval when the service stopped, and whose stored state the next process
cannot read."""


def semantics_of(reason: ExitReason, cause: ExitCause | None = None) -> ExitSemantics:
    """What the end of a turn means: by its cause, where there is one, else by its reason."""
    return EXIT_SEMANTICS[reason] if cause is None else CAUSE_SEMANTICS[cause]
