import { describe, expect, it } from 'vitest';
import type { FleetView } from '../../../src/core/dashboard/fleet-view.ts';
import { suggestions } from '../../../src/ui/suggestions.ts';

const FLEET = {
  clusters: ['web', 'c1', 'c10', 'paris-c1'].map((name) => [name, 0, 0, 'available']),
  placements: [
    { namespace: 'shop', name: 'web' },
    { namespace: 'shop', name: 'c1<b>' },
  ],
} as unknown as FleetView;

describe('the search box understands', () => {
  it.each<[typed: string, address: string]>([
    ['c10', '/c/c10'],
    ['C1', '/c/c1'],
    ['shop/web', '/p/shop/web'],
    ['web', '/c/web'],
    ['c1<', '/p/shop/c1%3Cb%3E'],
    ['drain c1', '/change?drain=c1'],
    ['DRAIN   paris', '/change?drain=paris-c1'],
    ['drain nobody', '/change?drain=nobody'],
    ['lose region:eu', '/change?lose=region:eu'],
    ['lose region=eu', '/change?lose=region%3Deu'],
    ['lose c10', '/change?lose=c10'],
    ['add 3', '/change?add=3'],
    ['add 3 like c1', '/change?add=3&like=c1'],
    ['pr 12', '/change?pr=12'],
    ['#12', '/change?pr=12'],
    ['pr fleet/12', '/change?pr=fleet%2F12'],
    ['14:02', '/?at=14:02'],
    ['what happened at 9:05', '/?at=09:05'],
  ])('%s', (typed, address) => {
    expect(suggestions(typed, FLEET)[0]?.address).toBe(address);
  });

  it('proposes what contains the text, at most eight', () => {
    expect(suggestions('c1', FLEET).map(({ text }) => text)).toEqual(['c1', 'c10', 'shop/c1<b>', 'paris-c1']);
    const clusters = Array.from({ length: 50 }, (_, at) => [`c${at}`, 0, 0, 'available'] as const);
    expect(suggestions('c', { ...FLEET, clusters })).toHaveLength(8);
  });

  it('understands questions without a fleet, and nothing of nothing', () => {
    expect(suggestions('drain c1', undefined)).toHaveLength(1);
    expect(suggestions('c1', undefined)).toEqual([]);
    expect(suggestions('  ', FLEET)).toEqual([]);
  });
});
