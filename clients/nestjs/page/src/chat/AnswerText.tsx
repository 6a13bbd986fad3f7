import { Fragment } from "preact";
import { useMemo } from "preact/hooks";
import type { Citation } from "../core/contract.js";
import { answerBlocks } from "./answer-blocks.js";
import type { Block, Inline } from "./answer-blocks.js";
import { CitationButton } from "./CitationButton.js";

interface AnswerTextProps {
  text: string;
  citations: readonly Citation[];
  isGrowing: boolean;
}

/** The answer in blocks, with a button for each citation. */
export function AnswerText({ text, citations, isGrowing }: AnswerTextProps) {
  const blocks = useMemo(() => answerBlocks(text, citations), [text, citations]);
  return (
    <div class={isGrowing ? "answer-text answer-growing" : "answer-text"} aria-busy={isGrowing}>
      {blocks.map((block, index) => (
        <AnswerBlock key={index} block={block} />
      ))}
    </div>
  );
}

function AnswerBlock({ block }: { block: Block }) {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Inlines content={block.content} />
        </p>
      );
    case "heading":
      return (
        <h4>
          <Inlines content={block.content} />
        </h4>
      );
    case "quote":
      return (
        <blockquote>
          <Inlines content={block.content} />
        </blockquote>
      );
    case "list": {
      const items = block.items.map((content, index) => (
        <li key={index}>
          <Inlines content={content} />
        </li>
      ));
      return block.isOrdered ? <ol start={block.first}>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

function Inlines({ content }: { content: readonly Inline[] }) {
  return <>{content.map((inline, index) => shown(inline, content[index + 1], content[index - 1], index))}</>;
}

/** A citation stays on the line of the word before it: the two are drawn together. */
function shown(inline: Inline, next: Inline | undefined, last: Inline | undefined, key: number) {
  if (inline.kind === "cite") {
    return last?.kind === "text" ? null : <CitationButton key={key} citation={inline.citation} />;
  }
  if (next?.kind !== "cite") return <Words key={key} inline={inline} />;
  const cut = inline.text.trimEnd().search(/\S*$/);
  return (
    <Fragment key={key}>
      {cut > 0 && <Words inline={{ ...inline, text: inline.text.slice(0, cut) }} />}
      <span class="cited-end">
        <Words inline={{ ...inline, text: inline.text.slice(cut) }} />
        <CitationButton citation={next.citation} />
      </span>
    </Fragment>
  );
}

function Words({ inline }: { inline: Extract<Inline, { kind: "text" }> }) {
  const words = inline.isBold ? (
    <strong>{inline.text}</strong>
  ) : inline.isCode ? (
    <code>{inline.text}</code>
  ) : (
    inline.text
  );
  return inline.cited === undefined ? <>{words}</> : <span class="cited">{words}</span>;
}
