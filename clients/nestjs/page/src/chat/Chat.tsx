import { EmptyState } from "../core/components/index.js";

export function Chat() {
  return <EmptyState title="Ask about a matter" />;
}
