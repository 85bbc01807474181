import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { type Colour, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const RED: Colour = [200, 0, 0, 255];
const NAMES = ['matches', 'assignedSlot', 'parentElement', 'getRootNode', 'shadowRoot', 'scrollHeight', 'contains'];

/** A red popup whose fields hide members of the form: `form.matches` is a field. */
const POPUP = `<form style="position:fixed;left:440px;top:210px;width:400px;height:300px;background:rgb(200,0,0)">${NAMES.map(
  (name) => `<input type="hidden" name="${name}">`,
).join('')}</form>`;

describe.concurrent('a page whose form has fields with the names of members', () => {
  const ground = siteAndActor();

  const redIn = async (markup: string, options: CaptureOptions) => {
    const path = `/overlays?${new URLSearchParams({ chat: markup })}`;
    return countOf(await pngOf(await ground.capture(path, { waitUntil: 'load', ...options })), RED);
  };

  it.each<CaptureOptions>([{ hidePopups: true }, { hideFixed: true }])(
    'is shown without popups: %j',
    async (options) => {
      expect(await redIn(POPUP, {})).toBe(400 * 300);
      expect(await redIn(POPUP, options)).toBe(0);
    },
  );

  it('is shown without a popup that came while it was scrolled', async () => {
    const opens = `<template>${POPUP}</template><script>
      const open = () => document.body.append(document.querySelector('template').content);
      window.addEventListener('scroll', open, { once: true });
    </script>`;
    expect(await redIn(opens, { fullPage: true })).toBe(0);
    expect(await redIn(opens, { fullPage: true, delayMs: 1 })).toBe(0);
  });
});
