import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { KeptJson } from '../../../../src/app/serve/dashboard/kept-json.ts';
import type { Sight } from '../../../../src/core/dashboard/sight.ts';

const ALL: Sight = { namespaces: 'all', allClusters: true };

describe('answers that viewers share', () => {
  let nowMs: number;
  let made: number;
  let kept: KeptJson;
  beforeEach(() => {
    [nowMs, made] = [0, 0];
    kept = new KeptJson(() => nowMs);
  });

  /** @param tookMs how long it takes to make it */
  async function ask(path: string, revision: number, { sight = ALL, tookMs = 0 } = {}): Promise<unknown> {
    const found = await kept.get({ path, revision }, sight, () => {
      nowMs += tookMs;
      return { number: ++made };
    });
    return (JSON.parse(gunzipSync(found ?? '').toString()) as { readonly number: number }).number;
  }

  it('are made again when something changed, or after some seconds', async () => {
    expect(await ask('/p', 1)).toBe(1);
    expect(await ask('/p', 1)).toBe(1);
    expect(await ask('/p', 2)).toBe(2);
    nowMs += 5_000;
    expect(await ask('/p', 2)).toBe(3);
  });

  it('are not for viewers who may see something else', async () => {
    const tenant = (...namespaces: string[]): Sight => ({
      namespaces: new Set(namespaces),
      allClusters: false,
    });
    expect(await ask('/p', 1)).toBe(1);
    expect(await ask('/p', 1, { sight: tenant('a', 'b') })).toBe(2);
    expect(await ask('/p', 1, { sight: tenant('b', 'a') })).toBe(2);
    expect(await ask('/p', 1, { sight: tenant('a') })).toBe(3);
    expect(await ask('/p', 1, { sight: { ...tenant('a'), allClusters: true } })).toBe(4);
  });

  it('take a quarter of the time together, however many there are', async () => {
    expect(await ask('/p', 1, { tookMs: 100 })).toBe(1);
    // What nobody has seen is made at once.
    expect(await ask('/q', 1, { tookMs: 100 })).toBe(2);
    nowMs += 250;
    expect(await ask('/p', 2)).toBe(1);
    expect(await ask('/q', 2)).toBe(2);
    nowMs += 50;
    expect(await ask('/p', 2, { tookMs: 100 })).toBe(3);
    expect(await ask('/q', 2)).toBe(2);
    nowMs += 300;
    expect(await ask('/q', 2)).toBe(4);
  });

  it('are asked for again after a failure, and what does not exist is undefined', async () => {
    const broken = () =>
      kept.get({ path: '/p', revision: 1 }, ALL, () => Promise.reject(new Error('broken')));
    await expect(broken()).rejects.toThrow('broken');
    expect(await ask('/p', 1)).toBe(1);
    expect(await kept.get({ path: '/none', revision: 1 }, ALL, () => undefined)).toBeUndefined();
  });
});
