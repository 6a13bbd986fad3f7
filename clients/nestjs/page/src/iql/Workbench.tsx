import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button, Disclosure, EmptyState, ErrorNote } from "../core/components/index.js";
import { counted } from "../core/format.js";
import { useNavigation } from "../core/navigation.js";
import { Editor } from "./Editor.js";
import { Faults } from "./Faults.js";
import { Operators } from "./Operators.js";
import { QueryState } from "./QueryState.js";
import { Results } from "./Results.js";
import { Scope } from "./Scope.js";
import { Templates } from "./Templates.js";
import { withOperator, withTemplate } from "./edits.js";
import type { Edit } from "./edits.js";
import type { RunOptions, WorkbenchModel } from "./workbench-model.js";
import "./iql.css";

/** Writes queries in IQL, runs them over a matter and shows what they find, and why. */
export function Workbench({ model }: { model: WorkbenchModel }) {
  const id = useId();
  const navigation = useNavigation();
  const matter = navigation.selectedMatter.value;
  const input = useRef<HTMLTextAreaElement>(null);
  const select = useSelection(input);
  useLayoutEffect(() => {
    model.forMatter(matter?.matterId);
  }, [model, matter?.matterId]);
  const change = (edit: Edit): void => {
    model.write(edit.query);
    select(edit);
  };
  const selection = (): [number, number] => {
    const { selectionStart: start = 0, selectionEnd: end = 0 } = input.current ?? {};
    return [start, end];
  };
  const run = (): void => {
    void model.start().then((started) => {
      if (!started) input.current?.focus();
    });
  };
  const query = model.query.value;
  const { faults, isRead } = model.faults.value;
  const running = model.run.value?.state === "running";
  return (
    <div class="workbench" tabIndex={0} role="region" aria-label="IQL workbench">
      <div class="workbench-sheet">
        <Editor
          query={query}
          faults={faults}
          input={input}
          describedBy={`${id}-state`}
          onWrite={(text) => {
            model.write(text);
          }}
          onRun={run}
        />
        <div class="workbench-bar">
          <Button
            look="primary"
            disabled={matter === undefined || running || query.trim() === "" || faults.length > 0}
            aria-keyshortcuts="Control+Enter Meta+Enter"
            onClick={run}
          >
            Run
          </Button>
          <QueryState id={`${id}-state`} model={model} matterName={matter?.name} />
        </div>
        {model.parse.error.value && (
          <ErrorNote
            error={model.parse.error.value}
            onRetry={() => {
              model.write(query);
            }}
          />
        )}
        <Faults query={query} faults={faults} isRead={isRead} onMend={change} />
        <div class="workbench-aids">
          <Disclosure summary="Templates">
            <Templates
              onPick={(template) => {
                change(withTemplate(query, selection()[1], template));
              }}
            />
          </Disclosure>
          <Disclosure summary="Operators">
            <Operators
              onPick={(operator) => {
                change(withOperator(query, ...selection(), operator));
              }}
            />
          </Disclosure>
          {matter && (
            <Disclosure
              summary={
                <span>
                  Documents and score <span class="hint">{scopeWords(model.options.value)}</span>
                </span>
              }
            >
              <Scope
                matterId={matter.matterId}
                options={model.options.value}
                onChange={(options) => (model.options.value = options)}
              />
            </Disclosure>
          )}
        </div>
        {matter === undefined && (
          <EmptyState title="Choose a matter to run the query over">The list is on the left.</EmptyState>
        )}
        {model.run.value && (
          <Results
            run={model.run.value}
            onCancel={() => {
              model.cancel();
            }}
            onMore={(result) => model.more(result)}
          />
        )}
      </div>
    </div>
  );
}

function scopeWords({ documentIds, minScore }: RunOptions): string {
  const documents = documentIds.length === 0 ? "all documents" : counted(documentIds.length, "document");
  return `${documents}, matches above ${minScore.toFixed(2)}`;
}

/** Selects a part of the text field once it has its new text. */
function useSelection(input: { current: HTMLTextAreaElement | null }): (edit: Edit) => void {
  const wanted = useRef<Edit | undefined>(undefined);
  useLayoutEffect(() => {
    const { start, end, query } = wanted.current ?? {};
    if (input.current === null || start === undefined || end === undefined || input.current.value !== query) return;
    wanted.current = undefined;
    input.current.focus();
    input.current.setSelectionRange(start, end);
  });
  return (edit) => {
    wanted.current = edit;
  };
}
