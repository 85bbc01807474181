import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parseAtomFeed } from 'feedsmith';
import { SaxesParser } from 'saxes';
import { expect } from 'vitest';
import { z } from 'zod';
import type { RunningApp } from '../support/serve.ts';
import { targetOf } from './answers.ts';

/* Reads feeds as feed readers do. All functions fail for a feed that is not valid. */

const Link = z.strictObject({
  rel: z.enum(['self', 'alternate', 'next', 'related', 'enclosure']),
  href: z.url(),
  type: z.string().optional(),
  length: z.int().positive().optional(),
});
/** The elements that RFC 4287 requires, and others only as this service writes them. */
const AtomSchema = z.strictObject({
  id: z.string().regex(/^urn:/),
  title: z.strictObject({ value: z.string().min(1) }),
  updated: z.iso.datetime(),
  authors: z.array(z.strictObject({ name: z.string() })).min(1),
  generator: z.strictObject({ text: z.string(), version: z.string() }),
  links: z.array(Link),
  entries: z
    .array(
      z.strictObject({
        id: z.string().regex(/^urn:/),
        title: z.strictObject({ value: z.string().min(1) }),
        published: z.iso.datetime(),
        updated: z.iso.datetime(),
        links: z.array(Link).optional(),
        categories: z.array(z.strictObject({ term: z.string() })).optional(),
        content: z.strictObject({ type: z.literal('html'), value: z.string() }),
      }),
    )
    .optional(),
});

type App = Pick<RunningApp, 'call'>;

/** Reads the Atom feed of a link, without a key. */
export async function atomOf(app: App, link: string) {
  return readAtom(await (await app.call(targetOf(link))).text());
}

/** Reads the JSON Feed of a link, without a key. */
export async function jsonOf(app: App, link: string) {
  return readJsonFeed(await (await app.call(targetOf(link))).text());
}

/** Reads an Atom feed: strictly as XML, and by the requirements of RFC 4287. */
function readAtom(xml: string) {
  const strict = new SaxesParser({ xmlns: true });
  strict.on('error', (error) => {
    throw error;
  });
  strict.write(xml).close();
  const { entries = [], title, links, ...feed } = AtomSchema.parse(parseAtomFeed(xml));
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  return {
    ...feed,
    title: title.value,
    links: byRel(links),
    entries: entries.map(({ links = [], categories = [], content, title, ...entry }) => ({
      ...entry,
      title: title.value,
      content: content.value,
      categories: categories.map(({ term }) => term),
      links: byRel(links),
      enclosure: links.find(({ rel }) => rel === 'enclosure'),
    })),
  };
}

/** Returns the links by their `rel`. Two of the same would be refused by validators. */
function byRel(links: readonly z.output<typeof Link>[]): Partial<Record<z.output<typeof Link>['rel'], string>> {
  expect(new Set(links.map(({ rel }) => rel)).size).toBe(links.length);
  return Object.fromEntries(links.map(({ rel, href }) => [rel, href]));
}

const JsonFeed = z.object({
  title: z.string(),
  next_url: z.string().optional(),
  items: z.array(
    z.object({
      id: z.string(),
      url: z.url().optional(),
      title: z.string(),
      date_published: z.iso.datetime(),
      content_html: z.string(),
      attachments: z.array(z.object({ url: z.url(), mime_type: z.string(), size_in_bytes: z.int() })).optional(),
    }),
  ),
});

const ajv = new Ajv({ strict: false });
addFormats.default(ajv);
const isJsonFeed = ajv.compile(z.looseObject({}).parse(createRequire(import.meta.url)('jsonfeed-schema')));

/** Reads a JSON Feed, and checks it by the JSON Schema of version 1.1. */
function readJsonFeed(text: string): z.output<typeof JsonFeed> {
  const feed: unknown = JSON.parse(text);
  if (!isJsonFeed(feed)) throw new Error(ajv.errorsText(isJsonFeed.errors));
  return JsonFeed.parse(feed);
}
