import { useMemo } from "preact/hooks";
import { Disclosure } from "../core/components/index.js";
import { counted } from "../core/format.js";
import { contentWords, indented, readPayload } from "./sent-payload.js";

/** The payload in parts that can be read, and as the JSON that it is. */
export function SentPayload({ json }: { json: string }) {
  const payload = useMemo(() => readPayload(json), [json]);
  return (
    <>
      {payload && (
        <>
          <Part title="Instructions, rules and references" text={payload.system} />
          {payload.messages.map(({ role, content }, index) => (
            <Part key={index} title={`Message: ${role}`} text={contentWords(content)} />
          ))}
          {payload.tools.length > 0 && (
            <Part
              title={counted(payload.tools.length, "tool")}
              text={payload.tools.map(({ name, description }) => `${name}\n${description}`).join("\n\n")}
            />
          )}
        </>
      )}
      <Disclosure class="sent-part" isOpen={!payload} summary="As JSON">
        <pre class="payload" tabIndex={0}>
          {indented(json)}
        </pre>
      </Disclosure>
    </>
  );
}

function Part({ title, text }: { title: string; text: string }) {
  return (
    <Disclosure class="sent-part" summary={title}>
      <pre class="sent-text" tabIndex={0}>
        {text}
      </pre>
    </Disclosure>
  );
}
