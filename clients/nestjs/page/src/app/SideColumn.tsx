import { useNavigation } from "../core/navigation.js";
import { Viewer } from "../viewer/Viewer.js";

/** The right column; not there while nothing is opened. */
export function SideColumn() {
  const side = useNavigation().side.value;
  if (!side) return null;
  return <aside class="side">{side.kind === "document" && <Viewer />}</aside>;
}
