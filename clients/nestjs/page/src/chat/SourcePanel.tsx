import { Panel } from "../core/components/index.js";
import { useNavigation } from "../core/navigation.js";
import type { CitedSource } from "../core/navigation.js";
import { ToolOutput } from "./ToolOutput.js";

/** A source that is no document: its name, and the words that an answer cites. */
export function SourcePanel({ source }: { source: CitedSource }) {
  const navigation = useNavigation();
  const close = (): void => {
    navigation.closeSide();
  };
  return (
    <Panel title={source.name} subtitle={source.kind} onClose={close} focusOn={source}>
      {source.quote === "" ? (
        <p class="answer-note">It has no words that could be quoted.</p>
      ) : (
        <blockquote class="source-quote">{source.quote}</blockquote>
      )}
      {source.call && (
        <>
          <h3>All that the tool returned</h3>
          <ToolOutput {...source.call} />
        </>
      )}
    </Panel>
  );
}
