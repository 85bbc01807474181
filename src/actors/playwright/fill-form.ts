import type { Locator } from 'playwright';
import type { FormFilling } from '../../capture/options/interaction.ts';
import { locate } from './locate.ts';
import type { Patience, Step } from './step.ts';

/** Elements that submit a form when clicked. */
const SENDS = 'button:not([type]), button[type=submit], input[type=submit], input[type=image]';

/** A field does not accept the given value. The message names the accepted values. */
class FieldError extends Error {
  override readonly name = 'FieldError';
}

/** Returns the steps in which a person fills in a form and submits it. */
export function formSteps({ selector = 'form', fields, submit }: FormFilling): Step[] {
  const filling = Object.entries(fields).map(
    ([name, value]): Step => ({
      name: `form.fields.${name}`,
      selector: byName(name),
      take: async (stage) => fillField(await locate(stage, selector), name, value, stage.patience),
    }),
  );
  const sending: Step = {
    name: 'form.submit',
    selector,
    take: async (stage) => send(await locate(stage, selector), stage.patience),
  };
  return submit ? [...filling, sending] : filling;
}

async function fillField(form: Locator, name: string, value: string | boolean, patience: Patience): Promise<void> {
  const named = form.locator(byName(name));
  const field = named.first();
  switch (await field.evaluate(kindOf, undefined, patience)) {
    case 'checkbox':
      if (typeof value === 'boolean') return field.setChecked(value, patience);
      return choose(named, value, patience);
    case 'radio':
      if (typeof value === 'string') return choose(named, value, patience);
      throw new FieldError('takes the value of the radio button to choose');
    case 'select':
      if (typeof value !== 'string') throw new FieldError('takes the value or the text of an option');
      await field.selectOption(value, patience);
      return;
    case 'file':
      throw new FieldError('takes a file, which cannot be given');
    default:
      if (typeof value !== 'string') throw new FieldError('takes text');
      return field.fill(value, patience);
  }
}

/** Runs in the page. */
function kindOf(field: { readonly localName: string; readonly type?: unknown }): string {
  return field.localName === 'select' ? 'select' : String(field.type);
}

/** Returns the checkbox or radio button of a group that has the value. */
async function choose(named: Locator, value: string, patience: Patience): Promise<void> {
  const wanted = named.and(named.page().locator(`css=[value=${quoted(value)}]`)).first();
  if ((await wanted.count()) === 0) throw new FieldError('has nothing of that value to choose');
  await wanted.check(patience);
}

/** Clicks the submit button, as a person does. Submits a form without one as the Enter key in a field would. */
async function send(form: Locator, patience: Patience): Promise<void> {
  const button = form.locator(`css=${SENDS}`).first();
  await form.waitFor({ state: 'attached', ...patience });
  if ((await button.count()) > 0 && (await button.isVisible())) return button.click(patience);
  await form.evaluate((element: { requestSubmit(): void }) => element.requestSubmit(), undefined, patience);
}

function byName(name: string): string {
  return `[name=${quoted(name)}]`;
}

/** Returns the text as a CSS string. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[\n\r\f]/g, (char) => `\\${char.charCodeAt(0).toString(16)} `)}"`;
}
