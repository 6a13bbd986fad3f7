import type { Citation } from "../core/contract.js";
import { useNavigation } from "../core/navigation.js";
import { useConversation } from "./opened-conversation.js";

/** The number of a citation; it opens the document at the quoted words. */
export function CitationButton({ citation }: { citation: Citation }) {
  const navigation = useNavigation();
  const conversation = useConversation();
  const place = [citation.filename, citation.heading, citation.page > 0 ? `page ${citation.page}` : ""];
  const where = place.filter((part) => part !== "").join(", ");
  const open = (): void => {
    const exchange = conversation.exchanges.peek().find(({ view }) => view.peek().citations.includes(citation));
    const turnMatter = exchange?.view.peek().requestContext?.matter_context?.matter_id;
    const matterId = turnMatter ?? navigation.selectedMatter.peek()?.matterId ?? "";
    const { document_id: documentId, filename, start, end, quote } = citation;
    navigation.openDocument({ matterId, documentId, filename, start, end, quote });
  };
  return (
    <button
      type="button"
      class="citation"
      title={where}
      aria-label={`Citation ${citation.number}: ${where}`}
      onClick={open}
    >
      {citation.number}
    </button>
  );
}
