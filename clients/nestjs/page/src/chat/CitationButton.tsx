import type { Citation } from "../core/contract.js";
import { useNavigation } from "../core/navigation.js";
import { citedSource, isInDocument, whereabouts } from "./cited-source.js";
import { useConversation } from "./opened-conversation.js";

/** The number of a citation; it opens the document at the quoted words, or shows the source that is no document. */
export function CitationButton({ citation }: { citation: Citation }) {
  const navigation = useNavigation();
  const conversation = useConversation();
  const where = whereabouts(citation);
  const open = (): void => {
    const exchange = conversation.exchanges.peek().find(({ view }) => view.peek().citations.includes(citation));
    if (!isInDocument(citation)) {
      navigation.openSide({ kind: "source", source: citedSource(citation, exchange?.view.peek().turnId) });
      return;
    }
    const { matter_id: ownMatter, document_id: documentId, filename, start, end, quote } = citation;
    // Citations that were stored before they told their matter are of the turn's.
    const turnMatter = exchange?.view.peek().requestContext?.matter_context?.matter_id;
    const matterId = ownMatter !== "" ? ownMatter : (turnMatter ?? navigation.selectedMatter.peek()?.matterId ?? "");
    navigation.openDocument({ matterId, documentId, filename, start, end, quote });
  };
  // An answer that names its source has no number there.
  const isNumbered = citation.number > 0;
  return (
    <button
      type="button"
      class="citation"
      title={where}
      aria-label={isNumbered ? `Citation ${citation.number}: ${where}` : `Source: ${where}`}
      onClick={open}
    >
      {isNumbered ? citation.number : "•"}
    </button>
  );
}
