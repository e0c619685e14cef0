import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@berth/runtime/sha256';
import { describe, expect, it } from 'vitest';
import { decisionTableHtml } from '../../../../src/core/preview/report/decision-table-html.ts';
import { approvalCommand } from '../../../../src/core/preview/comment/approval-blocks.ts';
import { COLOURS } from '../../../../src/core/preview/report/html.ts';
import { SCRIPT, STYLE } from '../../../../src/core/preview/report/report-style.ts';
import type { FleetCluster } from '../../../../src/core/preview/plan.ts';
import { move, placementPlan, plan, planned } from '../comment/comment-fixture.ts';
import { PLAN, page, TABLE } from './report-fixture.ts';

/** Compares with a file beside this test; `UPDATE_GOLDEN=1` writes it again. */
const golden = (name: string, text: string): void => {
  const file = join(import.meta.dirname, 'golden', name);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
};
const withoutCode = (html: string): string => html.replace(STYLE, 'STYLE').replace(SCRIPT, 'SCRIPT');
/** What a reader sees, with one space between words. */
const textOf = (html: string): string =>
  withoutCode(html)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the report page', () => {
  it('is this page', () => golden('report.html', withoutCode(page())));

  it('leads back to the pull request, and names its author', () => {
    expect(page()).toContain(
      '<p class="origin"><a href="https://forge.test/team/fleet/pulls/7">team/fleet#7</a> by Ada</p><h1>Drain c1</h1>',
    );
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '/relative',
    '',
    'https://forge.test/'.padEnd(3_000, 'x'),
  ])('does not lead to %.30s', (url) => {
    const html = page({ pullRequest: { title: 'T', authorName: '', url } });
    expect(html).not.toContain('<a ');
    expect(html).toContain('<p class="origin">team/fleet#7</p>');
  });

  it('escapes an address, a title and a name', () => {
    const evil = '"><script>alert(1)</script>';
    const html = page({ pullRequest: { title: evil, authorName: evil, url: `https://forge.test/${evil}'` } });
    expect(html.split('<script>')).toHaveLength(2);
    expect(html).toContain('by &#34;&#62;&#60;script&#62;');
    expect(html).not.toMatch(/href="[^"]*['<>]/);
  });

  it('says what an approval would do, and who gave it', () => {
    expect(textOf(page())).toContain('Approving takes team-a/db from c1; it then runs nowhere.');
    const approved = page({ approvals: [{ token: '0a1b2c3d4e5f', by: 'grace' }] });
    expect(textOf(approved)).toContain('The merge takes team-a/db from c1');
    expect(textOf(approved)).toContain('held (WouldEmpty), approved by grace');
    expect(textOf(approved)).not.toContain('until somebody approves');
  });

  it('has the one command that approves all that is held, as the comment', () => {
    const rules = { approvers: 'write', selfApproval: false } as const;
    const approve = approvalCommand(PLAN, { approvals: [], commands: { digest: sha256, rules } });
    const text = textOf(page({ approve }));
    expect(text).toMatch(
      /Approve it with the comment \/berth approve 0a1b2c3d4e5f ?\. Anybody who may write/,
    );
    expect(text).not.toContain('code 0a1b2c3d4e5f');
    expect(textOf(page())).toContain('code 0a1b2c3d4e5f');
  });

  it('has headings in order, and a scope for each head of a table', () => {
    const levels = [...page().matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
    expect(levels[0]).toBe(1);
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    for (const [at, level] of levels.entries()) expect(level).toBeLessThanOrEqual((levels[at - 1] ?? 0) + 1);
    for (const [head] of page().matchAll(/<th\b[^>]*>/g)) expect(head).toMatch(/scope="(col|row|rowgroup)"/);
  });

  it.each(Object.entries(COLOURS))('has a contrast of at least 4.5 in %s', (_theme, colours) => {
    const { bg, soft, line: _line, bar: _bar, ...texts } = colours;
    for (const [name, text] of Object.entries(texts))
      for (const back of [bg, soft])
        expect(contrast(text, back), `${name} on ${back}`).toBeGreaterThanOrEqual(4.5);
    for (const back of [bg, soft]) expect(contrast(colours.bar, back)).toBeGreaterThanOrEqual(3);
  });

  it('omits complete sections that do not fit, and counts them', () => {
    const full = page();
    const short = page({ maxLength: full.length - 1_000 });
    expect(short.length).toBeLessThanOrEqual(full.length - 1_000);
    expect(short).toMatch(/\d+ more sections do not fit in this page/);
    expect(short.split('<section>')).toHaveLength(short.split('</section>').length);
  });

  it('has few open lines for many clusters, and all of their names', () => {
    const fleet = Array.from({ length: 300 }, (_, at): FleetCluster => {
      const name = `c${String(at).padStart(3, '0')}`;
      return { name, sets: ['prod', ...(at % 100 === 0 ? ['gpu'] : [])], region: at % 2 === 0 ? 'eu' : 'us' };
    });
    const names = fleet.map(({ name }) => name);
    const placements = [
      placementPlan('team-a/web', {
        removed: names.slice(0, 30).map((name) => move(name, 'drained')),
        added: names.slice(30, 90).map((name) => move(name, 'rank')),
        kept: 100,
        after: { clusters: names.slice(30, 190) },
      }),
    ];
    const html = page({ outcome: planned(plan({ placements, fleet })) });
    for (const name of names) expect(html).toContain(name);
    const open = html.replace(/<details>[^]*?<\/details>/g, '').replace(/<svg[^]*?<\/svg>/g, '');
    expect([...open.matchAll(/<(li|tr)\b/g)].length).toBeLessThan(60);
    expect(textOf(html)).toContain('Set gpu: 3 clusters, change: c000');
    expect(textOf(html)).toContain('● 50 clusters: it stays there');
    expect(textOf(html)).toContain('○ 55 clusters: not on it');
  });

  it('says where each workload moves', () => {
    expect(page()).toContain('<td>+ c3<br>− c1<br>stays on 1</td>');
  });

  it('needs no script to be read', () => {
    const html = page().replace(/<script>[^]*<\/script>/, '');
    expect(html).toContain('<div class="tools" hidden>');
    expect(withoutCode(html).match(/ hidden/g)).toHaveLength(1);
    expect(textOf(html)).toContain(PLAN.notEvaluated[0]);
  });
});

describe('the table of a decision as HTML', () => {
  it('shows the selected clusters, the cut, the next in line, and the refused by filter', () => {
    expect(textOf(decisionTableHtml(TABLE))).toBe(
      [
        ' team-a/web : 9 of 40 clusters',
        'Cluster Points AddOn/usage/free × 2 Steady × 1 Flips if',
        'Selected: 9 1. c2 260 160 100 it loses 210 points',
        '… 7 more selected 9. c3 + joins 60 60 0 it loses 10 points',
        'The cut: a cluster needs more than the 60 points of c3',
        'Next in line 10. c4 50 0 missing 50 stale it gains 11 points, or numberOfClusters is 10',
        '… 3 more in line',
        'Refused by predicates: 25 clusters 20 lack label tier=gold: d1, d2 and 18 more',
        '5 lack label gpu: e1 and 4 more Flips if you set label gpu=a',
        'Refused by taints: 1 cluster: tainted maintenance 1 tainted maintenance: c1 − leaves ',
      ].join(' '),
    );
  });

  it('hatches what is missing or stale', () => {
    expect(decisionTableHtml(TABLE).match(/class="bar doubtful"/g)).toHaveLength(2);
  });

  it.each([
    [{ kind: 'none' } as const, 'No cut: every cluster that passes the filters is selected'],
    [{ kind: 'free', places: 1 } as const, '1 place stays free: every cluster that passes is selected'],
    [{ kind: 'spread' } as const, 'The cut: the spread decides beside the points'],
  ])('says of the cut %j what it is', (cut, text) => {
    expect(textOf(decisionTableHtml({ ...TABLE, cut }))).toContain(text);
  });

  it('has no table where nothing was ranked', () => {
    const html = decisionTableHtml({ ...TABLE, message: 'No cluster', selected: [], next: [], moreNext: 0 });
    expect(html).not.toContain('<table');
    expect(textOf(html)).toContain('No cluster Refused by predicates');
  });
});

/** WCAG 2.2: contrast ratio of two colours `#rrggbb`. */
function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
