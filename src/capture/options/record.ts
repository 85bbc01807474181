import { z } from 'zod';
import { NAMED_OUTPUT_KINDS, type NamedOutputKind } from '../artifacts/artifacts.ts';
import { labelList, MAX_LABELS, note } from '../finding/marks.ts';
import { EVIDENCE_KINDS } from '../result/evidence.ts';
import { RETRIED_VERDICTS } from '../result/verdict.ts';
import { extractField } from './extract.ts';
import { optionFacts } from './facts.ts';
import { filled, flag, integer, listOf, noneIfEmpty, objectOf, selector } from './fields.ts';

/** Thirty days. */
const MAX_CACHE_AGE_MS = 30 * 24 * 60 * 60 * 1000;

const EVIDENCE = { error: `must be "all" or a list of ${EVIDENCE_KINDS.join(', ')}` };

const MARKDOWN_SCOPES = ['main', 'page'] as const;

const SCOPE = { error: `must be ${MARKDOWN_SCOPES.join(' or ')}` };

const OUTPUTS = { error: `must be a list of ${NAMED_OUTPUT_KINDS.join(', ')}` };

/** The contents of each output, as the description of the option names them. */
const CONTENTS: Readonly<Record<NamedOutputKind, string>> = {
  markdown: 'the main content as it was painted',
  blocks: 'the places of its blocks in the image',
  text: 'what the page showed, in reading order, without text that nobody could see',
  links: 'its links and where they are in the image',
  metadata: 'what it says about itself to machines (schema.org data, Open Graph, feeds and its canonical URL)',
  mhtml: 'the page in one file that needs no network',
  har: 'its requests with their times, with `har` also their bodies',
  aria: 'its ARIA snapshot',
  accessibility: 'its accessibility tree',
};

const RETRIED = { error: `must be a list of ${RETRIED_VERDICTS.join(', ')}` };

const MAX_STATUSES = 50;
const MAX_TEXTS = 50;
const MAX_TEXT_CHARACTERS = 500;

const STATUS = 'must be a status from 100 to 599, such as 404, or a class of them, such as 5xx';
const status = z
  .union(
    [z.int({ error: STATUS }).min(100, STATUS).max(599, STATUS), z.string().regex(/^[1-5](?:xx|\d\d)$/i, STATUS)],
    STATUS,
  )
  .register(optionFacts, { secret: false })
  .transform((written) => String(written).toLowerCase());

/** Outputs, evidence to record, the reuse of stored captures, and pages that must not be stored. */
export const recordFields = {
  evidence: z
    .union([z.literal('all'), z.array(z.enum(EVIDENCE_KINDS, EVIDENCE)).max(EVIDENCE_KINDS.length, EVIDENCE)], EVIDENCE)
    .transform((chosen) => inOrderOf(EVIDENCE_KINDS)(chosen === 'all' ? EVIDENCE_KINDS : chosen))
    .optional()
    .meta({
      description:
        'Evidence to record beyond what is always recorded; each kind costs a little. `GET /results/{id}` returns it in `evidence`; `perception_hash` is a field of the result.',
      examples: [['redirects', 'tls'], 'all'],
    }),
  outputs: z
    .array(z.enum(NAMED_OUTPUT_KINDS, OUTPUTS), OUTPUTS)
    .max(NAMED_OUTPUT_KINDS.length, OUTPUTS)
    .transform(inOrderOf(NAMED_OUTPUT_KINDS))
    .optional()
    .meta({
      description: `Files to make beside the image and the HTML snapshot; each costs a little. ${NAMED_OUTPUT_KINDS.map((kind) => `\`${kind}\`: ${CONTENTS[kind]}`).join('; ')}. The result lists them in \`outputs\`; \`GET /screenshot/{id}?view=text\` sends one.`,
      examples: [['markdown'], ['text', 'links']],
    }),
  markdown: objectOf(
    {
      scope: z.enum(MARKDOWN_SCOPES, SCOPE).default('main').meta({
        description: '`main` leaves out navigation, banners and footers; `page` leaves out nothing that was painted.',
      }),
      selector: selector.optional().meta({
        description:
          'The first visible element that matches is written, whatever the `scope`; an empty, partial output when none does.',
      }),
      hidden: flag.default(false).meta({
        description:
          'List in `blocks` the text that was not painted, with the technique that hides it. `collapsed` is what a click would show.',
      }),
    },
    'markdown',
    'an object with scope, selector or hidden',
  )
    .optional()
    .meta({ description: 'What the outputs `markdown` and `blocks` hold.', examples: [{ scope: 'page' }] }),
  har: objectOf(
    {
      bodies: flag.default(false).meta({
        description:
          'Record the bodies of requests and responses: at most 1 MiB each (64 KiB of a request) and 16 MiB in all. A `comment` says why one was left out.',
      }),
    },
    'har',
    'an object with bodies',
  )
    .optional()
    .meta({ description: 'What the output `har` holds.', examples: [{ bodies: true }] }),
  extract: extractField,
  elementMap: flag.default(true).meta({
    description:
      'Record where the elements of the page are in the image, with short forms of their texts and styles, so that comparisons can name and ignore elements. `GET /screenshot/{id}?view=elements` sends it. A PDF has none.',
  }),
  failOnStatus: listOf(status, 'statuses', MAX_STATUSES)
    .transform(noneIfEmpty)
    .optional()
    .meta({
      description:
        'Fail with `unwanted_status` when the page was answered with one of these statuses, such as 404, or `5xx` for a class.',
      examples: [[404, '5xx']],
    }),
  failOnText: listOf(filled('a text', MAX_TEXT_CHARACTERS), 'texts', MAX_TEXTS)
    .register(optionFacts, { secret: false })
    .transform(noneIfEmpty)
    .optional()
    .meta({
      description:
        'Fail with `unwanted_text` when the page shows one of these texts, whatever its case, spaces and characters that nobody sees. Hidden text and frames are not searched.',
      examples: [['Access denied', 'Are you a robot?']],
    }),
  retryOn: z
    .array(z.enum(RETRIED_VERDICTS, RETRIED), RETRIED)
    .max(RETRIED_VERDICTS.length, RETRIED)
    .transform(inOrderOf(RETRIED_VERDICTS))
    .optional()
    .meta({
      description:
        'Load and capture the page once more when its `verdict` is one of these and as much time is left as the first capture took. The second capture counts, unless it fails.',
      examples: [['blank', 'unfinished']],
    }),
  cacheMaxAgeMs: integer('milliseconds', 0, MAX_CACHE_AGE_MS)
    .default(0)
    .meta({
      description:
        'Accept a stored capture of the same URL with equal options that is at most this old, in milliseconds; it is answered with `cached: true`. Equal requests in flight share one capture. 0 captures anew.',
    })
    .register(optionFacts, { identity: false }),
  labels: labelList
    .transform(noneIfEmpty)
    .optional()
    .meta({
      description: `Texts to find the capture by, at most ${MAX_LABELS}. A stored capture answers the request only when it has them.`,
      examples: [['legal', 'case 17']],
    })
    .register(optionFacts, { identity: false, secret: false }),
  note: note
    .transform((text) => (text === '' ? undefined : text))
    .optional()
    .meta({
      description: 'A text for people, which the record keeps. A stored capture never answers a request with one.',
    })
    .register(optionFacts, { identity: false, secret: false }),
};

/** Puts what is chosen into the order of `all`, undefined for none, so that equal requests compare equal. */
function inOrderOf<K>(all: readonly K[]) {
  return (chosen: readonly K[]) => noneIfEmpty(all.filter((one) => chosen.includes(one)));
}
