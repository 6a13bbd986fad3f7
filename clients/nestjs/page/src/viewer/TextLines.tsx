import type { Line, Run } from "./lines.js";

/** The lines of a text, with what is marked in them. */
export function TextLines({ lines, current }: { lines: readonly Line[]; current: number }) {
  return (
    <div class="document-text">
      {lines.map((line) => (
        <TextLine key={line.start} line={line} current={current} />
      ))}
    </div>
  );
}

function TextLine({ line, current }: { line: Line; current: number }) {
  return (
    <p class={lineClass(line)} data-start={line.start}>
      {line.runs.map((run, i) => (
        <MarkedRun key={i} run={run} current={current} />
      ))}
    </p>
  );
}

function MarkedRun({ run, current }: { run: Run; current: number }) {
  if (run.marks.length === 0) return <>{run.text}</>;
  const isCurrent = run.marks.includes(current);
  return (
    <mark
      class={isCurrent ? "mark-current" : undefined}
      data-mark={isCurrent ? current : run.marks[0]}
      tabIndex={isCurrent ? -1 : undefined}
    >
      {run.text}
    </mark>
  );
}

/** Headings of Markdown stand out; their text stays as it is. */
function lineClass({ runs }: Line): string {
  if (runs.length === 0) return "line line-empty";
  return /^#{1,6} /.test(runs[0]?.text ?? "") ? "line line-heading" : "line";
}
