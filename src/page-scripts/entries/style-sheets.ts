import { page } from '../dom/dom.ts';
import { adopt, adoptedSheetsOf, adoptSheets, type StyleRule, type StyleSheet, sheetsOf } from '../dom/styles.ts';
import { web } from '../dom/web.ts';
import { kept } from '../running/kept.ts';

/**
 * Adds a style sheet to the page's document unless it is there. A constructed sheet is exempt from the page's
 * Content-Security-Policy, comes after the page's own sheets, and does not appear in the HTML snapshot.
 */
export function keepSheet(css: string): void {
  if (web.top !== web) return;
  const sheet = kept('sheet', () => {
    const made = new web.CSSStyleSheet();
    made.replaceSync(css);
    return made;
  });
  const adopted = adoptedSheetsOf(page);
  if (!adopted.includes(sheet)) adoptSheets(page, [...adopted, sheet]);
}

/** Lets these declarations win over those of the page's `@page` rules. */
export function overridePageRules(declarations: Readonly<Record<string, string>>): void {
  for (const sheet of [...sheetsOf(page), ...adoptedSheetsOf(page)]) forget(rulesOf(sheet), Object.keys(declarations));
  const sheet = new web.CSSStyleSheet();
  const lines = Object.entries(declarations).map(([name, value]) => `${name}: ${value} !important`);
  sheet.replaceSync(`@page { ${lines.join('; ')} }`);
  adopt(page, sheet);
}

/**
 * Removes these properties from `@page` rules: if several style sheets have an important one, Chromium (156) uses the
 * first, and an adopted sheet comes last.
 */
function forget(rules: Iterable<StyleRule>, names: readonly string[]): void {
  for (const rule of rules) {
    if (rule instanceof web.CSSPageRule) for (const name of names) rule.style.removeProperty(name);
    else if (rule instanceof web.CSSGroupingRule) forget(rule.cssRules, names);
    else if (rule instanceof web.CSSImportRule && rule.styleSheet !== null) forget(rulesOf(rule.styleSheet), names);
  }
}

/** The rules of a style sheet; none of one of another origin, which scripts cannot read. */
function rulesOf(sheet: StyleSheet): Iterable<StyleRule> {
  try {
    return sheet.cssRules;
  } catch {
    return [];
  }
}
