import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { VERDICTS } from '../../../src/capture/result/verdict.ts';
import { worded } from '../../parts/badge.tsx';
import { DEVICES } from '../../parts/devices.ts';
import { Icon } from '../../parts/icon.tsx';
import { isTyping } from '../../parts/keyboard.ts';
import { LabelInput } from '../../parts/label-input.tsx';
import { SelectField } from '../../parts/select.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { countOf, countOfHost, type Filters, HOST_FILTERS, readFilters } from './filters.ts';

/** Time without typing after which a filter takes effect, in milliseconds. */
const TYPING_MS = 300;

interface FilterBarProps {
  readonly filters: Filters;
  /** `isMore`: typing goes on in the same field, so it is no new step of the history. */
  readonly onChange: (filters: Filters, isMore: boolean) => void;
  /** Shown beside the button of the filters. */
  readonly children: ComponentChildren;
}

export function FilterBar({ filters, onChange, children }: FilterBarProps) {
  const [draft, setDraft] = useState(filters);
  // A narrow window has no room for both the filters and the captures.
  const [isOpen, setOpen] = useState(countOf({ ...filters, ...IN_SIGHT }) > 0 && !matchMedia(NARROW).matches);
  const search = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  /** The field that was typed into last, and the filters after it. */
  const typing = useRef<{ readonly name: string | undefined; readonly filters: Filters }>(undefined);
  // The address also changes when a link is followed or the Back button is pressed.
  useEffect(() => setDraft(filters), [filters]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event)) return;
      event.preventDefault();
      search.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);

  const change = (changed: Partial<Filters>, name?: keyof Filters) => {
    const next = { ...draft, ...changed };
    setDraft(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => {
        const { current: last } = typing;
        const isMore = name !== undefined && last?.name === name && isSame(last.filters, filters);
        typing.current = { name, filters: next };
        onChange(next, isMore);
      },
      name === undefined ? 0 : TYPING_MS,
    );
  };
  const typed = (name: keyof Filters) => (value: string) => change({ [name]: value }, name);
  const chosen = (name: keyof Filters) => (value: string) => change({ [name]: value });
  const hidden = countOf({ ...draft, ...IN_SIGHT });
  const hostFilters = countOfHost(draft);

  return (
    <search class="filters">
      <div class="filters-main">
        <label class="search-field">
          <Icon name="search" />
          <span class="sr-only">Search titles and URLs</span>
          <input
            ref={search}
            type="search"
            placeholder="Search titles and URLs"
            value={draft.text}
            onInput={(event) => typed('text')(event.currentTarget.value)}
          />
          <kbd>/</kbd>
        </label>
        <label class="search-field">
          <Icon name="search" />
          <span class="sr-only">Search the words on the pages</span>
          <input
            type="search"
            placeholder="Words on the page"
            title={WORDS}
            value={draft.words}
            onInput={(event) => typed('words')(event.currentTarget.value)}
          />
        </label>
        <button type="button" class="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="filter" />
          <span>Filters{hidden > 0 ? ` (${hidden})` : ''}</span>
        </button>
        {children}
      </div>
      <div class={isOpen ? 'filters-rest' : 'filters-rest closed'}>
        <TextField label="Host" placeholder="example.com" value={draft.host} onInput={typed('host')} />
        <TextField label="URL" placeholder="https://…" value={draft.url} onInput={typed('url')} />
        <TextField label="Scan" placeholder="id" value={draft.scan} onInput={typed('scan')} />
        <Choice label="Status" value={draft.status} onChange={chosen('status')} options={STATUSES} />
        <Choice label="Outcome" value={draft.outcome} onChange={chosen('outcome')} options={OUTCOMES} />
        <Choice label="Verdict" value={draft.verdict} onChange={chosen('verdict')} options={PAGE_VERDICTS} />
        <LabelInput
          label="Label"
          placeholder="legal"
          value={draft.label}
          onInput={(event) => typed('label')(event.currentTarget.value)}
        />
        <Choice label="Hold" value={draft.held} onChange={chosen('held')} options={HOLDS} />
        <Choice label="Made with" value={draft.option} onChange={chosen('option')} options={madeWith(draft.option)} />
        <Time label="From" value={draft.from} onChange={chosen('from')} />
        <Time label="To" value={draft.to} onChange={chosen('to')} />
        {countOf(draft) > 0 && (
          <button type="button" class="button quiet" onClick={() => change(NO_FILTERS)}>
            <Icon name="close" />
            Clear
          </button>
        )}
        <details class="filters-host" open={hostFilters > 0}>
          <summary>What the host was{hostFilters > 0 ? ` (${hostFilters})` : ''}</summary>
          <div class="filters-facts">
            {HOST_FILTERS.map(([name, label, placeholder]) => (
              <TextField key={name} label={label} placeholder={placeholder} value={draft[name]} onInput={typed(name)} />
            ))}
            <Choice
              label="Content Security Policy"
              value={draft.contentSecurityPolicy}
              onChange={chosen('contentSecurityPolicy')}
              options={YES_OR_NO}
            />
            <Choice label="HSTS" value={draft.hsts} onChange={chosen('hsts')} options={YES_OR_NO} />
          </div>
        </details>
      </div>
    </search>
  );
}

const WORDS = 'All of these words, "a phrase", -without, ferr* for the beginning of a word';

const NARROW = '(max-width: 620px)';

const isSame = (one: Filters, other: Filters): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The filters that are always shown. */
const IN_SIGHT = { text: '', words: '' };
const NO_FILTERS = readFilters(new URLSearchParams());

const STATUSES = ['2xx', '3xx', '4xx', '5xx', '200', '301', '302', '403', '404', '500', '503'].map(
  (status) => [status, status] as const,
);
const HOLDS = [['true', 'Held']] as const;
const OUTCOMES = [
  ['stored', 'Stored'],
  ['failed', 'Failed'],
  ['timed_out', 'Timed out'],
] as const;

const YES_OR_NO = [
  ['true', 'Yes'],
  ['false', 'No'],
] as const;

const PAGE_VERDICTS = VERDICTS.map((verdict) => [verdict, worded(verdict)] as const);

const OPTIONS: Choices = [
  ['fullPage', 'Full page'],
  ['device', 'Any device'],
  ...DEVICES.map((name) => [`device=${name}`, name] as const),
  ['viewport', 'Own window size'],
  ['darkMode', 'Dark'],
  ['format=pdf', 'PDF'],
  ['selector', 'One element'],
];

/** Returns the choices, with the one in the address, which may be any. */
function madeWith(value: string): Choices {
  return value === '' || OPTIONS.some(([each]) => each === value) ? OPTIONS : [...OPTIONS, [value, value]];
}

interface FilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

type Choices = readonly (readonly [value: string, name: string])[];

function Choice({ options, ...field }: FilterProps & { readonly options: Choices }) {
  return <SelectField {...field} options={[['', 'Any'], ...options]} />;
}

function Time({ label, value, onChange }: FilterProps) {
  return (
    <label class="field time">
      <span>{label}</span>
      <input type="datetime-local" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}
