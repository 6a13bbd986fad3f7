import { EmptyState } from "../core/components/index.js";

export function Workbench() {
  return <EmptyState title="IQL workbench" />;
}
