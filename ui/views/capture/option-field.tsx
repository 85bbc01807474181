import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { FieldProblem } from '../../api/client.ts';
import { withField } from '../../parts/with-field.ts';
import { boundsOf, controlOf, type OptionSchema } from './option-schema.ts';
import { optionTitle } from './option-words.ts';

interface OptionFieldProps {
  readonly name: string;
  /** Path of the option in the request, as problems name it. */
  readonly path: string;
  readonly schema: OptionSchema;
  /** Value of the option; undefined when not given, so that the default applies. */
  readonly value: unknown;
  readonly problems: readonly FieldProblem[];
  readonly onChange: (value: unknown) => void;
}

/** One option of a capture, with the control that its schema asks for. */
export function OptionField({ name, path, schema, value, problems, onChange }: OptionFieldProps) {
  const id = useId();
  const control = controlOf(schema);
  const problem = problems.find((each) => each.path === path)?.message;
  const described = { 'aria-describedby': `${id}-help`, 'aria-invalid': problem !== undefined };
  const text = (
    event: Event & { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement },
  ) => event.currentTarget.value;
  const frame = (children: ComponentChildren, isWide = false) => (
    <div class={isWide ? 'option wide' : 'option'}>
      <label for={id} class="option-name">
        {optionTitle(name)}
      </label>
      {children}
      <Help id={`${id}-help`} name={path} schema={schema} problem={problem} />
    </div>
  );

  switch (control.kind) {
    case 'flag':
      return (
        <div class="option">
          <label class="option-flag">
            <input
              type="checkbox"
              checked={value === true || (value === undefined && schema.default === true)}
              onChange={(event) =>
                onChange(
                  event.currentTarget.checked === (schema.default ?? false) ? undefined : event.currentTarget.checked,
                )
              }
              {...described}
            />
            <span class="option-name">{optionTitle(name)}</span>
          </label>
          <Help id={`${id}-help`} name={path} schema={schema} problem={problem} />
        </div>
      );
    case 'choice':
      return frame(
        <select
          id={id}
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(text(event) || undefined)}
          {...described}
        >
          <option value="">{schema.default === undefined ? 'Not set' : `Default: ${String(schema.default)}`}</option>
          {control.values.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>,
      );
    case 'several': {
      const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
      const toggle = (each: string) => {
        const next = control.values.filter((other) => (other === each) !== chosen.includes(other));
        onChange(next.length === 0 ? undefined : next);
      };
      return (
        <fieldset class="option wide" aria-describedby={`${id}-help`}>
          <legend class="option-name">{optionTitle(name)}</legend>
          <div class="option-several">
            {control.values.map((each) => (
              <label key={each} class="option-flag">
                <input type="checkbox" checked={chosen.includes(each)} onChange={() => toggle(each)} />
                {each}
              </label>
            ))}
          </div>
          <Help id={`${id}-help`} name={path} schema={schema} problem={problem} />
        </fieldset>
      );
    }
    case 'number':
      return frame(
        <input
          id={id}
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          min={schema.minimum}
          max={schema.maximum}
          placeholder={schema.default === undefined ? '' : String(schema.default)}
          value={typeof value === 'number' ? value : ''}
          onInput={(event) => onChange(text(event) === '' ? undefined : Number(text(event)))}
          {...described}
        />,
      );
    case 'text':
      return control.isLong
        ? frame(
            <textarea
              id={id}
              spellcheck={false}
              value={String(value ?? '')}
              onInput={(event) => onChange(text(event) || undefined)}
              {...described}
            />,
            true,
          )
        : frame(
            <>
              <input
                id={id}
                type="text"
                spellcheck={false}
                autocapitalize="none"
                list={schema.examples === undefined ? undefined : `${id}-examples`}
                value={String(value ?? '')}
                onInput={(event) => onChange(text(event) || undefined)}
                {...described}
              />
              {schema.examples !== undefined && (
                <datalist id={`${id}-examples`}>
                  {schema.examples.map((example) => (
                    <option key={String(example)} value={String(example)} />
                  ))}
                </datalist>
              )}
            </>,
          );
    case 'lines':
      return frame(
        <textarea
          id={id}
          rows={2}
          spellcheck={false}
          placeholder="One on each line"
          value={Array.isArray(value) ? value.join('\n') : ''}
          onInput={(event) => onChange(text(event) === '' ? undefined : text(event).split('\n'))}
          {...described}
        />,
      );
    case 'fields': {
      const given: Readonly<Record<string, unknown>> = Object(value ?? {});
      return (
        <fieldset class="option wide option-fields">
          <legend class="option-name">{optionTitle(name)}</legend>
          <Help id={`${id}-help`} name={path} schema={schema} problem={problem} />
          <div class="options">
            {control.fields.map(([field, part]) => (
              <OptionField
                key={field}
                name={field}
                path={`${path}.${field}`}
                schema={withDefault(part, Object(schema.default ?? {})[field])}
                value={given[field]}
                problems={problems}
                onChange={(next) => onChange(withField(given, field, next))}
              />
            ))}
          </div>
        </fieldset>
      );
    }
    case 'json':
      return frame(<JsonField id={id} value={value} onChange={onChange} described={described} />, true);
  }
}

/** Adds a default to the schema of a field, because it may be part of the default of its object. */
function withDefault(schema: OptionSchema, preset: unknown): OptionSchema {
  return preset === undefined ? schema : { ...schema, default: preset };
}

interface JsonFieldProps {
  readonly id: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly described: object;
}

/** A value as JSON. Invalid JSON is sent as text, and the service's refusal names the accepted form. */
function JsonField({ id, value, onChange, described }: JsonFieldProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  const change = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
    } catch {
      onChange(next);
    }
  };
  return (
    <textarea
      id={id}
      rows={2}
      spellcheck={false}
      placeholder="JSON"
      value={text}
      onInput={(event) => change(event.currentTarget.value)}
      {...described}
    />
  );
}

/** Renders text between backticks as code. */
function withCode(text: string): readonly ComponentChildren[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}

interface HelpProps {
  readonly id: string;
  /** Name of the option in the API. */
  readonly name: string;
  readonly schema: OptionSchema;
  readonly problem: string | undefined;
}

function Help({ id, name, schema, problem }: HelpProps) {
  const bounds = boundsOf(schema);
  return (
    <p id={id} class="option-help">
      {problem !== undefined && <strong class="error-text">{problem} </strong>}
      {withCode(schema.description ?? '')}
      {bounds !== '' && <span class="option-bounds"> ({bounds})</span>} <code class="option-api">{name}</code>
    </p>
  );
}
