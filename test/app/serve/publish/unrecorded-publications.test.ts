import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { VolatilePublishMemory } from '../../../../src/app/serve/publish/publish-memory.ts';
import { UnrecordedPublications } from '../../../../src/app/serve/publish/unrecorded-publications.ts';
import type { DecisionPage } from '../../../../src/core/publish/decision-page.ts';
import type { DecisionRecord } from '../../../../src/core/publish/decision-record.ts';
import { groupsOfPages, pagesDigest } from '../../../../src/core/publish/recorded-groups.ts';
import { decisionRecord } from '../../../fakes/decision-record.ts';
import { SilentLogger } from '../../../fakes/silent-logger.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const WEB = 'team-a/web';
const page = (name: string, index: number, ...clusters: string[]): DecisionPage => ({
  name,
  group: { name: '', index },
  decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })),
  owned: true,
});
const PAGES = [page('web-decision-1', 0, 'b', 'a'), page('web-decision-2', 0, 'c')];
const decided = (...clusters: string[]) => JSON.stringify({ groups: [{ index: 0, name: '', clusters }] });
const TIME = '2026-01-01T00:00:00Z';

async function lookAt(
  records: readonly DecisionRecord[] | Error,
  pages: readonly DecisionPage[],
  memory = new VolatilePublishMemory(),
) {
  const log = new SilentLogger();
  const read = records instanceof Error ? Promise.reject(records) : Promise.resolve(records);
  const unrecorded = new UnrecordedPublications({ memory, digest, log, records: read });
  await unrecorded.whenLoaded();
  const found = unrecorded.lookAt(WEB, pages);
  expect(unrecorded.lookAt(WEB, [page('web-decision-1', 0, 'z')])).toBeUndefined();
  return { found, log };
}

describe('what the pages list and no record says', () => {
  it.each([
    { name: 'the same, on other pages', records: [decisionRecord({ decided: decided('a', 'b', 'c') })] },
    {
      name: 'the same, half of a move',
      records: [decisionRecord({ decided: decided('a'), published: groupsOfPages(PAGES) })],
    },
    { name: 'nothing, and never was anything', records: [], pages: [page('web-decision-1', 0)] },
  ])('is nothing: $name', async ({ records, pages = PAGES }) => {
    expect((await lookAt(records, pages)).found).toBeUndefined();
  });

  it('is the difference from the newest record of the placement', async () => {
    const records = [
      decisionRecord({ decided: decided('a', 'b', 'c') }),
      decisionRecord({ decided: decided('a', 'x') }),
      decisionRecord({ placement: 'team-a/api', decided: decided('a', 'b', 'c') }),
    ];
    expect((await lookAt(records, PAGES)).found).toMatchObject({ added: ['b', 'c'], removed: ['x'] });
  });

  it('is all of it where there is no record', async () => {
    expect((await lookAt([], PAGES)).found).toMatchObject({ added: ['a', 'b', 'c'], removed: [] });
  });

  it('is another group of the same clusters', async () => {
    const other = [page('web-decision-1', 1, 'a', 'b', 'c')];
    const records = [decisionRecord({ decided: decided('a', 'b', 'c') })];
    expect((await lookAt(records, other)).found).toMatchObject({ added: [], removed: [] });
  });

  it.each([
    { publishedAt: -1, pages: PAGES, isFound: false },
    { publishedAt: 1, pages: PAGES, isFound: true },
    { publishedAt: -1, pages: PAGES.slice(0, 1), isFound: true },
  ])('is not what was dropped with old records: $isFound', async ({ publishedAt, pages, isFound }) => {
    const memory = new VolatilePublishMemory();
    const publishedAtMs = Date.parse(TIME) + publishedAt;
    const stood = pagesDigest(digest, groupsOfPages(PAGES));
    memory.set(WEB, { specHash: '', publishedAtMs, removals: [], record: '1', pages: stood });
    const { found } = await lookAt(
      [decisionRecord({ placement: 'team-a/api', publishedAt: TIME })],
      pages,
      memory,
    );
    expect(found !== undefined).toBe(isFound);
  });

  it('is not guessed when the records cannot be read', async () => {
    const { found, log } = await lookAt(new Error('EIO'), PAGES);
    expect(found).toBeUndefined();
    expect(log.entries).toMatchObject([{ level: 'warn' }]);
  });
});
