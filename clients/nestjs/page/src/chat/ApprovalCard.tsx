import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { Button, ErrorNote } from "../core/components/index.js";
import type { Decision } from "../core/contract.js";
import { formatCountdown } from "../core/format.js";
import { useSecondsLeft } from "../core/use-seconds-left.js";
import { Arguments } from "./ToolActivity.js";
import { toolName } from "./tool-words.js";
import type { Approval } from "./turn-view.js";

interface ApprovalCardProps {
  approval: Approval;
  /** Takes the decision, after which the card is gone; rejects where it did not arrive. */
  onDecide: (decision: Decision) => Promise<void>;
}

/** Asks the person whether a tool may be called with these arguments. */
export function ApprovalCard({ approval, onDecide }: ApprovalCardProps) {
  const titleId = useId();
  const isBusy = useSignal(false);
  const failure = useSignal<unknown>(undefined);
  const left = useSecondsLeft(approval.expire_time === undefined ? undefined : Date.parse(approval.expire_time));
  const decide = async (decision: Decision): Promise<void> => {
    isBusy.value = true;
    failure.value = undefined;
    try {
      await onDecide(decision);
    } catch (error) {
      failure.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  const choice = (decision: Decision, label: string, look?: "primary") => (
    <Button look={look ?? "plain"} disabled={isBusy.value} onClick={() => void decide(decision)}>
      {label}
    </Button>
  );
  return (
    <section class="approval" aria-labelledby={titleId}>
      <header>
        <h4 id={titleId}>May this tool be used?</h4>
        {left > 0 && <span class="approval-time">{formatCountdown(left)} left to decide</span>}
      </header>
      <p class="approval-tool">
        <code>{toolName({ tool: approval.tool, serverName: approval.server_name })}</code>
      </p>
      <Arguments inputJson={approval.input_json} />
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
      <div class="approval-choices">
        {choice("APPROVE_ONCE", "Approve once", "primary")}
        {choice("APPROVE_FOR_SESSION", "Approve for this session")}
        {choice("DENY", "Deny")}
      </div>
    </section>
  );
}
