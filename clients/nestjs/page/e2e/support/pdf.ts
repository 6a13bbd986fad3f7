/** A PDF of A4 pages with a line each, in Helvetica of 12 points that begins 72 points from the left and 142 from the top. */
export function pdfOf(...lines: string[]): Buffer {
  const kids = lines.map((_, i) => `${4 + 2 * i} 0 R`).join(" ");
  const pages = lines.flatMap((line, i) => {
    const content = `BT /F1 12 Tf 72 700 Td (${line}) Tj ET`;
    const page = `/Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents ${5 + 2 * i} 0 R/Resources<</Font<</F1 3 0 R>>>>`;
    return [`<<${page}>>`, `<</Length ${content.length}>>\nstream\n${content}\nendstream`];
  });
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Kids[${kids}]/Count ${lines.length}>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...pages,
  ].map((body, i) => `${i + 1} 0 obj\n${body}\nendobj\n`);
  const head = "%PDF-1.5\n";
  const offsets = objects.map((_, i) => head.length + objects.slice(0, i).join("").length);
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const body = head + objects.join("");
  const xref = `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R>>\n`;
  return Buffer.from(`${body}${xref}startxref\n${body.length}\n%%EOF\n`, "latin1");
}
