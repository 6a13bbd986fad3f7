import { EmptyState } from "../core/components/index.js";

export function Viewer() {
  return <EmptyState title="Document" />;
}
