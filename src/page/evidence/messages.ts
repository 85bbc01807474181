import type { Protocol } from 'devtools-protocol';
import { bounded } from '../../capture/basics/bounded.ts';
import type { Noted, NotedMessage } from '../../capture/result/evidence.ts';
import type { PageSession } from '../frames/page-session.ts';
import { Tally } from './tally.ts';

const MAX_MESSAGES = 200;
const MAX_TEXT_CHARACTERS = 2048;
const MAX_URL_CHARACTERS = 1024;
const MAX_ARGUMENTS = 20;

type Level = NotedMessage['level'];

/** Methods of `console` that print no message. */
const SILENT: ReadonlySet<string> = new Set(['clear', 'endGroup', 'profile', 'profileEnd']);
const LEVELS: Readonly<Record<string, Level>> = {
  debug: 'debug',
  verbose: 'debug',
  info: 'info',
  warning: 'warning',
  error: 'error',
  assert: 'error',
};

/** Records the messages of the page's console. Needs `Runtime.enable` and `Log.enable`. */
export class Messages {
  readonly #tally = new Tally<NotedMessage>(MAX_MESSAGES);

  constructor(session: PageSession) {
    session.on('Runtime.consoleAPICalled', ({ type, args, stackTrace }) => {
      if (SILENT.has(type)) return;
      const [frame] = stackTrace?.callFrames ?? [];
      const text = args.slice(0, MAX_ARGUMENTS).map(textOf).join(' ');
      this.#note(LEVELS[type] ?? 'log', text, frame?.url, frame?.lineNumber);
    });
    session.on('Runtime.exceptionThrown', ({ exceptionDetails: { text, exception, url, lineNumber, stackTrace } }) => {
      const said = exception === undefined ? text : `${text} ${textOf(exception)}`;
      this.#note('exception', said, url ?? stackTrace?.callFrames[0]?.url, lineNumber);
    });
    session.on('Log.entryAdded', ({ entry: { level, text, url, lineNumber } }) => {
      this.#note(LEVELS[level] ?? 'log', text, url, lineNumber);
    });
  }

  get noted(): Noted<NotedMessage> {
    return this.#tally.noted;
  }

  /** `line` counts from 0. */
  #note(level: Level, text: string, url = '', line = -1): void {
    this.#tally.note({
      level,
      text: bounded(text, MAX_TEXT_CHARACTERS),
      url: bounded(url, MAX_URL_CHARACTERS),
      line: Math.max(0, line + 1),
    });
  }
}

/** Formats a value as the console does. */
function textOf({ type, value, unserializableValue, description, preview }: Protocol.Runtime.RemoteObject): string {
  if (unserializableValue !== undefined) return unserializableValue;
  if (preview !== undefined && preview.subtype !== 'error') return previewOf(preview);
  if (description !== undefined) return description;
  return type === 'undefined' ? 'undefined' : String(value);
}

function previewOf({ subtype, properties, overflow, description }: Protocol.Runtime.ObjectPreview): string {
  const isList = subtype === 'array';
  const parts = properties.map(({ name, type, value = '' }) => {
    const text = type === 'string' ? JSON.stringify(value) : value;
    return isList ? text : `${name}: ${text}`;
  });
  const inside = [...parts, ...(overflow ? ['…'] : [])].join(', ');
  if (isList) return `[${inside}]`;
  return description === undefined || description === 'Object' ? `{${inside}}` : `${description} {${inside}}`;
}
