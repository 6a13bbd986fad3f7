"""The service's own sentences about the matter and document of a message, in several languages."""

from proviso_service.turns import Texts

ASK_FOR_MATTER: Texts = {
    "en": "Which matter are you working with? Please select one, so that I can look into its documents.",
    "de": "Mit welcher Akte arbeiten Sie? Bitte wählen Sie eine aus, damit ich in ihre Dokumente sehen kann.",
    "fr": "Sur quel dossier travaillez-vous ? Veuillez en choisir un pour que je puisse consulter ses documents.",
    "es": "¿Con qué asunto está trabajando? Por favor, elija uno para que pueda consultar sus documentos.",
}

MATTER_NOTED: Texts = {
    "en": 'Noted: we are looking at the matter "{matter}".',
    "de": 'Notiert: wir betrachten die Akte "{matter}".',
    "fr": 'Noté : nous examinons le dossier "{matter}".',
    "es": 'Anotado: estamos viendo el asunto "{matter}".',
}

DOCUMENT_NOTED: Texts = {
    "en": 'Noted: we are looking at "{document}" in the matter "{matter}".',
    "de": 'Notiert: wir betrachten "{document}" in der Akte "{matter}".',
    "fr": 'Noté : nous examinons "{document}" dans le dossier "{matter}".',
    "es": 'Anotado: estamos viendo "{document}" en el asunto "{matter}".',
}

MATTER_NOT_FOUND: Texts = {
    "en": "I could not find the matter{name}. Please check that it exists and that you have access to it.",
    "de": "Ich konnte die Akte{name} nicht finden. Bitte prüfen Sie, ob es sie gibt und ob Sie Zugriff darauf haben.",
    "fr": "Je n'ai pas trouvé le dossier{name}. Veuillez vérifier qu'il existe et que vous y avez accès.",
    "es": "No he encontrado el asunto{name}. Por favor, compruebe que existe y que tiene acceso a él.",
}

DOCUMENT_NOT_FOUND: Texts = {
    "en": 'That document is not in the matter "{matter}". Which of these do you mean?\n{documents}',
    "de": 'Dieses Dokument ist nicht in der Akte "{matter}". Welches von diesen meinen Sie?\n{documents}',
    "fr": 'Ce document n\'est pas dans le dossier "{matter}". Lequel de ceux-ci voulez-vous dire ?\n{documents}',
    "es": 'Ese documento no está en el asunto "{matter}". ¿A cuál de estos se refiere?\n{documents}',
}

MORE_DOCUMENTS: Texts = {
    "en": "\n- and {count} more",
    "de": "\n- und noch {count}",
    "fr": "\n- et {count} de plus",
    "es": "\n- y {count} más",
}
"""The last line of a list of documents that does not show all."""

NO_DOCUMENTS: Texts = {
    "en": 'That document is not in the matter "{matter}", which has no documents yet.',
    "de": 'Dieses Dokument ist nicht in der Akte "{matter}", die noch keine Dokumente hat.',
    "fr": "Ce document n'est pas dans le dossier \"{matter}\", qui n'a pas encore de documents.",
    "es": 'Ese documento no está en el asunto "{matter}", que aún no tiene documentos.',
}

DOCUMENT_FAILED: Texts = {
    "en": '"{document}" could not be read: {reason}',
    "de": '"{document}" konnte nicht gelesen werden: {reason}',
    "fr": '"{document}" n\'a pas pu être lu : {reason}',
    "es": '"{document}" no se pudo leer: {reason}',
}

DOCUMENT_PROCESSING: Texts = {
    "en": '"{document}" is still being processed. Please ask again in a moment.',
    "de": '"{document}" wird noch verarbeitet. Bitte fragen Sie in einem Moment noch einmal.',
    "fr": '"{document}" est encore en cours de traitement. Veuillez redemander dans un instant.',
    "es": '"{document}" todavía se está procesando. Por favor, pregunte de nuevo en un momento.',
}

UNCLEAR: Texts = {
    "en": "Which matter do you mean? Your message begins with what looks like a [CONTEXT] marker, but {problem}, so I "
    "have looked up nothing. Please select the matter and ask again. For those who write the marker: this is its form, "
    "the second line only where a document is on view.\n\n{form}",
    "de": "Welche Akte meinen Sie? Ihre Nachricht beginnt anscheinend mit einem [CONTEXT]-Marker, aber ich kann ihn "
    "nicht sicher lesen; deshalb habe ich nichts nachgeschlagen. Bitte wählen Sie die Akte aus und fragen Sie noch "
    "einmal. Für die, die den Marker schreiben: das ist seine Form, die zweite Zeile nur, wo ein Dokument angezeigt "
    "wird.\n\n{form}",
    "fr": "De quel dossier s'agit-il ? Votre message semble commencer par un marqueur [CONTEXT], mais je ne peux pas "
    "le lire avec certitude ; je n'ai donc rien cherché. Veuillez choisir le dossier et redemander. Pour ceux qui "
    "écrivent le marqueur : voici sa forme, la deuxième ligne seulement si un document est affiché.\n\n{form}",
    "es": "¿A qué asunto se refiere? Su mensaje parece empezar con un marcador [CONTEXT], pero no puedo leerlo con "
    "certeza, así que no he buscado nada. Por favor, elija el asunto y pregunte de nuevo. Para quienes escriben el "
    "marcador: esta es su forma, la segunda línea solo si se está viendo un documento.\n\n{form}",
}
