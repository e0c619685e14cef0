import { describe, expect, it } from 'vitest';
import { withNewestVersion, detectHubBreak } from '../../../src/core/sync/hub-position.ts';

const at = (resourceVersion: string, uid = 'hub-1') => ({ uid, resourceVersion });

describe('what happened to a hub between two looks', () => {
  it.each([
    { name: 'nothing was seen before', before: undefined, now: at('5'), how: undefined },
    { name: 'its history went on', before: at('9'), now: at('10'), how: undefined },
    { name: 'nothing was written', before: at('10'), now: at('10'), how: undefined },
    { name: 'its history is shorter than it was', before: at('10'), now: at('9'), how: 'restored' },
    {
      name: 'versions are longer than a number can be',
      before: at('90071992547409930'),
      now: at('90071992547409929'),
      how: 'restored',
    },
    { name: 'versions are no numbers', before: at('b'), now: at('a'), how: undefined },
    { name: 'it has another uid', before: at('5'), now: at('10', 'hub-2'), how: 'replaced' },
  ])('$name: $how', ({ before, now, how }) => {
    expect(detectHubBreak(before, now)).toBe(how);
  });

  it('is judged by the newest version that was seen', () => {
    expect(withNewestVersion(at('9'), ['8', '10', undefined, 'x'])).toEqual(at('10'));
    expect(withNewestVersion(at('x'), ['8'])).toEqual(at('x'));
  });
});
