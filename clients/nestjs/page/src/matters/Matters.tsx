import { EmptyState } from "../core/components/index.js";

export function Matters() {
  return <EmptyState title="Matters and documents" />;
}
