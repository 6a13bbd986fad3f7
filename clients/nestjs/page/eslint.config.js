import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config({ ignores: ["dist", "node_modules"] }, js.configs.recommended, {
  files: ["**/*.ts", "**/*.tsx"],
  extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
  languageOptions: { parserOptions: { projectService: true } },
  rules: {
    "@typescript-eslint/consistent-type-imports": "error",
    "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    // Text from the service is only ever shown as text.
    "no-restricted-syntax": [
      "error",
      { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Show text as text." },
      { selector: "MemberExpression[property.name=/^(innerHTML|outerHTML)$/]", message: "Show text as text." },
      { selector: "CallExpression[callee.property.name='insertAdjacentHTML']", message: "Show text as text." },
    ],
  },
});
