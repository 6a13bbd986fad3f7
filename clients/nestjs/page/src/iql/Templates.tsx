import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { ApiError, api } from "../core/api.js";
import { ErrorNote, Spinner } from "../core/components/index.js";
import { callOf } from "./edits.js";
import { matchingTemplates } from "./template-filter.js";
import type { IqlTemplate } from "./types.js";

/** The templates of the service to pick from, with a box to filter them. */
export function Templates({ onPick }: { onPick: (template: IqlTemplate) => void }) {
  const id = useId();
  const filter = useSignal("");
  const { templates, error, load } = useTemplates();
  if (error !== undefined) return <ErrorNote error={error} onRetry={load} />;
  if (templates === undefined) return <Spinner label="Loading the templates" showLabel />;
  const matching = matchingTemplates(templates, filter.value);
  return (
    <>
      <label class="visually-hidden" for={id}>
        Filter the templates
      </label>
      <input
        id={id}
        class="field"
        type="search"
        placeholder="Filter, for example “liability”"
        value={filter.value}
        onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
      />
      <p class="visually-hidden" role="status">
        {filter.value !== "" && `${matching.length} templates`}
      </p>
      <ul class="templates" aria-label="Templates">
        {matching.map((template) => (
          <li key={template.name}>
            <button
              type="button"
              class="template"
              onClick={() => {
                onPick(template);
              }}
            >
              <code>{callOf(template)}</code>
              <span>{template.meaning}</span>
            </button>
          </li>
        ))}
      </ul>
      {matching.length === 0 && <p class="hint">No template has these words. Say it in words: {"{This clause …}"}</p>}
    </>
  );
}

function useTemplates() {
  const templates = useSignal<readonly IqlTemplate[] | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const load = (): void => {
    error.value = undefined;
    void api
      .get<{ templates: IqlTemplate[] }>("/iql/templates?page_size=1000")
      .then((answer) => {
        templates.value = answer.templates;
      })
      .catch((thrown: unknown) => {
        error.value = ApiError.from(thrown);
      });
  };
  useEffect(load, []);
  return { templates: templates.value, error: error.value, load };
}
