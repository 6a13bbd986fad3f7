import { useId } from "preact/hooks";
import { allPages, api, pathOf } from "../core/api.js";
import { Button, ErrorNote, Spinner } from "../core/components/index.js";
import type { Document } from "../core/contract.js";
import { useLoaded } from "../core/use-loaded.js";
import type { RunOptions } from "./workbench-model.js";

interface ScopeProps {
  matterId: string;
  options: RunOptions;
  onChange: (options: RunOptions) => void;
}

/** Which documents are asked, which score is a match, and what the comparisons mean. */
export function Scope({ matterId, options, onChange }: ScopeProps) {
  const id = useId();
  return (
    <div class="scope">
      <ScopeDocuments matterId={matterId} options={options} onChange={onChange} />
      <div class="scope-side">
        <label for={`${id}-least`}>Matches score above</label>
        <div class="row">
          <input
            id={`${id}-least`}
            type="range"
            min={0}
            max={0.95}
            step={0.05}
            value={options.minScore}
            onInput={({ currentTarget }) => {
              onChange({ ...options, minScore: Number(currentTarget.value) });
            }}
          />
          <output for={`${id}-least`}>{options.minScore.toFixed(2)}</output>
        </div>
        <label for={`${id}-comparison`}>
          <code>{"{A} > {B}"}</code> is
        </label>
        <select
          id={`${id}-comparison`}
          class="field"
          value={options.comparison}
          onChange={({ currentTarget }) => {
            onChange({ ...options, comparison: currentTarget.value as RunOptions["comparison"] });
          }}
        >
          <option value="IQL_COMPARISON_UNSPECIFIED">as the service has it</option>
          <option value="IQL_COMPARISON_CONTRACT">(A − B + 1) ÷ 2</option>
          <option value="IQL_COMPARISON_VENDOR">A if it is higher, else 0</option>
        </select>
      </div>
    </div>
  );
}

function ScopeDocuments({ matterId, options, onChange }: ScopeProps) {
  const { found, failure, retry } = useLoaded((signal) => readyDocuments(matterId, signal), [matterId]);
  if (failure) return <ErrorNote error={failure} onRetry={retry} />;
  if (!found) return <Spinner label="Loading the documents" showLabel />;
  const chosen = new Set(options.documentIds);
  return (
    <fieldset class="scope-documents">
      <legend>Documents</legend>
      <div class="row">
        <span class="hint">{chosen.size === 0 ? "All of the matter" : `${chosen.size} of ${found.length}`}</span>
        {chosen.size > 0 && (
          <Button
            look="quiet"
            small
            onClick={() => {
              onChange({ ...options, documentIds: [] });
            }}
          >
            Ask all
          </Button>
        )}
      </div>
      <ul>
        {found.map(({ document_id: documentId, filename }) => (
          <li key={documentId}>
            <label>
              <input
                type="checkbox"
                checked={chosen.has(documentId)}
                onChange={() => {
                  onChange({ ...options, documentIds: toggled(options.documentIds, documentId) });
                }}
              />
              <span>{filename}</span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

async function readyDocuments(matterId: string, signal: AbortSignal): Promise<Document[]> {
  return (await allDocuments(matterId, signal)).filter(({ status }) => status === "DOCUMENT_STATUS_READY");
}

function toggled(ids: readonly string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id];
}

function allDocuments(matterId: string, signal: AbortSignal): Promise<Document[]> {
  return allPages(async (token) => {
    const query = { page_size: 100, page_token: token };
    const path = pathOf("matters", matterId, "documents");
    const page = await api.get<{ documents: Document[]; next_page_token: string }>(path, { query, signal });
    return { items: page.documents, next_page_token: page.next_page_token };
  });
}
