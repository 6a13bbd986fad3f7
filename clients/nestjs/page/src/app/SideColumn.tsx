import { SourcePanel } from "../chat/SourcePanel.js";
import { ContextPanel } from "../context/ContextPanel.js";
import { SessionPanel } from "../context/SessionPanel.js";
import { useNavigation } from "../core/navigation.js";
import type { Side } from "../core/navigation.js";
import { Viewer } from "../viewer/Viewer.js";

const LABELS: Record<Side["kind"], string> = {
  document: "Document",
  source: "Source of an answer",
  context: "Context of an answer",
  session: "Items of the conversation",
};

/** The right column; not there while nothing is opened. */
export function SideColumn() {
  const side = useNavigation().side.value;
  if (!side) return null;
  return (
    <aside class="side" aria-label={LABELS[side.kind]}>
      {side.kind === "document" && <Viewer />}
      {side.kind === "source" && <SourcePanel source={side.source} />}
      {side.kind === "context" && <ContextPanel key={side.turnId} turnId={side.turnId} />}
      {side.kind === "session" && <SessionPanel />}
    </aside>
  );
}
