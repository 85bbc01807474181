import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { CATALOGUE } from '../../../src/capture/errors.ts';
import { REQUEST_LIMITS } from '../../../src/capture/request-limits.ts';
import { openApiDocument } from '../../../src/http/openapi/document.ts';

const document = openApiDocument({ maxBatch: 7, timeoutMs: 1_234, maxTimeoutMs: 5_678 });
const text = JSON.stringify(document);

/** Generates every object in the document with its JSON pointer. */
function* objects(
  value: unknown,
  pointer = '#',
): Generator<[pointer: string, value: Readonly<Record<string, unknown>>]> {
  if (typeof value !== 'object' || value === null) return;
  const entries = Object.entries(value);
  if (!Array.isArray(value)) yield [pointer, Object.fromEntries(entries)];
  for (const [key, child] of entries)
    yield* objects(child, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

const byPointer = new Map(objects(document));

describe('the OpenAPI document', () => {
  it('survives a JSON round trip unchanged', () => {
    expect(JSON.parse(text)).toEqual(document);
    expect(document.openapi).toBe('3.1.0');
  });

  it('names the version of the package', () => {
    expect(document.info).toMatchObject({ version: manifest.version });
  });

  it('contains no dangling references', () => {
    const references = [...byPointer.values()].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []));
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter((reference) => !byPointer.has(reference))).toEqual([]);
  });

  it('gives every operation a unique name, described answers, and the parameters of its path', () => {
    const operations = [...byPointer].filter(([pointer]) => /^#\/paths\/[^/]+\/\w+$/.test(pointer));
    const names = operations.map(([, operation]) => operation.operationId);
    expect(new Set(names).size).toBe(operations.length);
    for (const [pointer, operation] of operations) {
      const inPath = [...pointer.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
      expect(parameters.filter((each) => each.in === 'path').map((each) => each.name)).toEqual(inPath);
      for (const [status, answer] of Object.entries(operation.responses ?? {})) {
        expect(answer, `${pointer} ${status}`).toMatchObject({ description: expect.stringMatching(/./) });
        expect(answer.headers, `${pointer} ${status}`).toHaveProperty('X-Request-Id');
      }
    }
  });

  it('lists HEAD for every GET, without bodies', () => {
    for (const item of Object.values(document.paths)) {
      const { get, head } = Object(item);
      expect(Object.keys(head?.responses ?? {})).toEqual(Object.keys(get?.responses ?? {}));
      expect(JSON.stringify(head?.responses ?? {})).not.toContain('"content":');
    }
  });

  it('lists each error code under the status that the catalogue gives it', () => {
    for (const [pointer, { properties }] of byPointer) {
      const [, status] = /\/responses\/(\d{3})\/content\//.exec(pointer) ?? [];
      const codes = Object(properties).code?.enum;
      if (status === undefined || !Array.isArray(codes) || Number(status) < 400) continue;
      for (const [code, entry] of Object.entries(CATALOGUE)) {
        if (codes.includes(code)) expect(entry.status, `${pointer} ${code}`).toBe(Number(status));
      }
    }
  });

  it('requires one of two key schemes on all but the ten open paths', () => {
    expect(document.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
    const open = Object.entries(document.paths).filter(([, item]) => Object(item).get?.security?.length === 0);
    expect(open.map(([path]) => path).toSorted()).toEqual([
      '/',
      '/feeds/{id}',
      '/livez',
      '/openapi.json',
      '/readyz',
      '/readyz/any',
      '/readyz/reads',
      '/session',
      '/shared/{id}',
      '/shared/{id}/{part}',
    ]);
    for (const scheme of ['bearer', 'apiKey'])
      expect(byPointer.has(`#/components/securitySchemes/${scheme}`)).toBe(true);
  });

  it('describes every option of a capture, with its default if it has one', () => {
    const options: Record<string, { readonly description?: string; readonly default?: unknown }> = Object(
      byPointer.get('#/components/schemas/ScreenshotRequest/properties'),
    );
    const undescribed = Object.entries(options).filter(([, { description }]) => description === undefined);
    expect(undescribed.map(([name]) => name)).toEqual([]);
    expect(options.device).toMatchObject({ examples: expect.arrayContaining(['iPhone 15']) });
    const defaults = Object.entries(options).flatMap(([name, option]) =>
      option.default === undefined ? [] : [[name, option.default]],
    );
    expect(Object.fromEntries(defaults)).toEqual({
      allowNetwork: false,
      fullPage: false,
      format: 'png',
      quality: 80,
      viewport: { width: 1280, height: 720, deviceScaleFactor: 1 },
      omitBackground: false,
      animations: 'allow',
      hideFixed: false,
      hideChats: false,
      hidePopups: false,
      waitUntil: 'settled',
      delayMs: 0,
      ignoreCertErrors: false,
      isolation: 'capture',
      darkMode: false,
      reducedMotion: false,
      blockAds: false,
      acceptCookieBanners: false,
      rejectCookieBanners: false,
      cacheMaxAgeMs: 0,
      elementMap: true,
      timeoutMs: 1_234,
    });
  });

  it('names the maximum length of a line of a batch', () => {
    const { max } = REQUEST_LIMITS.body;
    expect(byPointer.get('#/paths/~1batch/post')?.description).toContain(`over ${max / 1024 ** 2} MiB`);
  });

  it('shows the limits that the service is configured with', () => {
    const request = byPointer.get('#/components/schemas/ScreenshotRequest/properties/timeoutMs');
    expect(request).toMatchObject({ default: 1_234, description: expect.stringContaining('5678') });
    expect(byPointer.get('#/components/schemas/BatchRequest/properties/requests')).toMatchObject({
      maxItems: 7,
      items: { $ref: '#/components/schemas/ScreenshotRequest' },
    });
    expect(byPointer.get('#/components/schemas/ScreenshotRequest')).toMatchObject({
      oneOf: [{ required: ['url'] }, { required: ['html'] }],
      additionalProperties: false,
      properties: { format: { default: 'png' }, quality: { default: 80, minimum: 1, maximum: 100 } },
    });
  });

  it('describes a change of a watch by the fields of a watch, which null removes', () => {
    const { required, properties } = Object(byPointer.get('#/components/schemas/WatchRequest'));
    const change = Object(byPointer.get('#/components/schemas/WatchChange'));
    expect(change).toMatchObject({ type: 'object', additionalProperties: false, examples: [{ every: '1h' }] });
    expect(Object.keys(change.properties)).toEqual(Object.keys(properties));
    const { default: _default, ...confirm } = properties.confirm;
    expect(change.properties.confirm).toEqual({ anyOf: [confirm, { type: 'null' }] });
    expect(required).toEqual(['url']);
    expect(change.properties.url).toEqual(properties.url);
  });
});
