import { describe, expect, it } from 'vitest';
import { FailingKeys } from '../../src/loop/failing-keys.ts';

describe('keys that fail', () => {
  it('are named with their reason until they succeed', () => {
    const failing = new FailingKeys('sets');
    failing.failed('Set b', new Error('no right'));
    failing.failed('Set a', new Error('first'));
    failing.failed('Set a', new Error('then this'));
    expect(failing.warnings()).toEqual([
      'Set a failed and is tried again: then this',
      'Set b failed and is tried again: no right',
    ]);
    failing.succeeded('Set b');
    failing.succeeded('Set a');
    expect(failing.warnings()).toEqual([]);
  });

  it('are only counted after the twentieth', () => {
    const failing = new FailingKeys('sets');
    for (let at = 10; at < 33; at++) failing.failed(`Set ${at}`, new Error('x'));
    expect(failing.warnings()).toHaveLength(21);
    expect(failing.warnings().at(-1)).toBe('3 more sets failed and are tried again');
  });
});
