import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fleetMap, fleetMapSvg } from '../../../../src/core/preview/comment/fleet-map.ts';
import { code, fenced, markup, prose, visible } from '../../../../src/core/preview/comment/foreign-text.ts';
import { commentCommand } from '../../../../src/core/preview/comment/comment-command.ts';
import { renderComment } from '../../../../src/core/preview/comment/render-comment.ts';
import { SCRIPT } from '../../../../src/core/preview/report/report-style.ts';
import { reportPage } from '../../../../src/core/preview/report/report-page.ts';
import { comment, move, placementPlan, plan, planned } from './comment-fixture.ts';

const TRICKS = [
  '@team/admins',
  'fixes #12 and !7 ~bug %v1 $3 &4',
  '<img src=x onerror=alert(1)>',
  '</details><script>x</script>',
  '--> <!-- berth:preview:fleet -->',
  '`code` ``` fence',
  '| a | b |',
  '\u202eevil\u2066\u200b\u0000\u001b[31m',
  '\ud800 lone',
  '\u{e0041}\u{e0042}tags',
  '[click](javascript:alert(1)) ![x](http://evil.example/p.png)',
  'www.evil.example https://evil.example',
  '\n\n# Heading\n/approve\n- item',
  '</title></svg><script>x</script>"\'&amp;',
  '\\` \\| \\',
  'x'.repeat(100_000),
];
const hostile = fc.oneof(fc.constantFrom(...TRICKS), fc.string({ unit: 'binary', maxLength: 60 }));
const UNSEEN =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200c-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\u{e0000}-\u{e0fff}]/u;

/** Markdown without its code spans. A backslash escapes a backtick outside of them, and not inside. */
function withoutCode(text: string): string {
  return text.replace(/\\[^\n]|`[^`\n]*`/g, (part) => (part.startsWith('`') ? '' : part));
}

describe('text of others', () => {
  it.each([
    ['prose', prose],
    ['code', code],
    ['fence', fenced],
    ['markup', markup],
    ['visible', visible],
  ])('as %s is one bounded line without invisible characters', (_name, write) => {
    fc.assert(
      fc.property(hostile, (text) => {
        const written = write(text);
        expect(written).not.toMatch(UNSEEN);
        expect(written).not.toContain('\n');
        expect(written.length).toBeLessThan(3_000);
      }),
    );
  });

  it('as prose mentions nobody, links nowhere and is no HTML', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const written = prose(text);
        expect(written).not.toMatch(/[<>]/);
        expect(written).not.toMatch(/[@#!~$%]\w/);
        expect(written).not.toMatch(/:\/\/|www\.\w/i);
        // Every mark-up character has a backslash of its own.
        expect(written.replace(/\\[\\`*_{}[\]()#|~!]/g, '')).not.toMatch(/[\\`*_{}[\]()#|~!]/);
      }),
    );
  });

  it('as code ends neither the code nor a cell of a table', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(code(text)).toMatch(/^`[^`|<>]+`$/);
      }),
    );
  });
});

describe('a plan whose every text is hostile', () => {
  const evilPlan = fc.tuple(hostile, hostile, hostile, hostile).map(([a, b, c, d]) =>
    planned(
      plan({
        base: { name: a },
        decisions: [
          {
            placement: { namespace: a, name: b },
            ...{ selectedCount: 1, clusterCount: 3, message: c, moreNext: 1 },
            prioritizers: [{ name: d, weight: 1 }],
            selected: [
              {
                ...{ cluster: a, rank: 1, total: 100, omittedBefore: 1, change: 'joins', flipsIf: b },
                points: [{ score: 100, points: 100, state: 'stale' }],
              },
            ],
            cut: { kind: 'score', cluster: c, total: 1 },
            next: [],
            refused: [
              {
                gate: 'taints',
                count: 9,
                reasons: [{ text: d, count: 9, clusters: [a, b], leaving: [a], flipsIf: c }],
              },
            ],
          },
        ],
        placements: [
          {
            ...placementPlan('x/y', {
              removed: [move(a, b, c)],
              added: [move(d, a)],
              held: { reason: b, message: c },
              after: { message: d, selected: 1 },
              regrouped: [a],
            }),
            namespace: a,
            name: b,
          },
        ],
        workloads: [
          {
            kind: a,
            namespace: b,
            name: c,
            change: 'moved',
            placements: [`${a}/${b}`],
            added: [d],
            removed: [],
            kept: 0,
            changedOn: [],
            manifestCount: 1,
            manifests: [],
          },
        ],
        objects: [
          { change: 'changed', ref: { apiVersion: b, kind: c, namespace: '', name: d }, fields: [a] },
        ],
        deletionsHeld: [{ source: a, message: b, token: 'ffffffffffff' }],
        lostFiles: [{ source: a, file: b, change: 'unselected', movedTo: c, objects: [] }],
        notEvaluated: [d],
        fleet: [
          { name: a, sets: [b], region: c },
          { name: d, sets: [c], region: a },
        ],
        findings: [{ code: 'misconfigured', severity: 'danger', subject: a, message: b }],
        rules: {
          changed: true,
          base: [
            {
              name: a,
              effect: 'deny',
              outcome: 'broken',
              message: b,
              owners: [c, d],
              location: { file: d, line: 1, column: 1 },
            },
          ],
          head: [],
        },
        applications: [
          {
            namespace: a,
            name: b,
            change: 'changed',
            placements: [],
            applications: [
              {
                change: 'changed',
                name: c,
                destination: d,
                fields: [{ path: a, before: b, after: undefined }],
              },
            ],
            kept: 0,
          },
          {
            namespace: b,
            name: c,
            change: 'changed',
            placements: [],
            applications: [],
            kept: 0,
            failure: d,
          },
          {
            namespace: c,
            name: d,
            change: 'changed',
            placements: [],
            applications: [],
            kept: 0,
            notRendered: a,
          },
        ],
      }),
      [
        {
          severity: 'error',
          code: a,
          message: b,
          hint: d,
          object: a,
          location: { file: c, line: 1, column: 1 },
          excerpt: [
            { line: 1, text: d },
            { line: 2, text: b },
          ],
        },
      ],
    ),
  );

  it('has a comment with our mark-up only', () => {
    fc.assert(
      fc.property(evilPlan, (outcome) => {
        const text = renderComment(comment(outcome));
        expect(text.replace('<!-- berth:preview:fleet -->', '')).not.toContain('<!--');
        const tags = new Set(text.match(/<[^>]*>/g));
        for (const ours of [
          '<!-- berth:preview:fleet -->',
          '<details>',
          '<summary>',
          '</summary>',
          '</details>',
          '<sub>',
          '</sub>',
        ])
          tags.delete(ours);
        expect([...tags]).toEqual([]);
        expect(text).not.toMatch(UNSEEN);
        expect(text).not.toMatch(/^\//m);
        expect(withoutCode(text.replace(/```[^]*?```/g, ''))).not.toMatch(/@\w/);
        expect(text.split('```').length % 2).toBe(1);
      }),
    );
  });

  it('has a page and a picture with our elements only', () => {
    fc.assert(
      fc.property(evilPlan, hostile, (outcome, title) => {
        const map = fleetMap(outcome.plan);
        const page = reportPage({
          subject: 'team/fleet#7',
          pullRequest: { title, authorName: title, url: `https://forge.test/"><script>${title}` },
          ...{ outcome, approvals: [], maxLength: 60_000 },
        });
        // Our own script, and the way back to the pull request.
        const [before = '', after = '', ...more] = page.split(`<script>${SCRIPT}</script>`);
        expect(more).toEqual([]);
        const ours = `${before}${after}`.replace(/ href="https:\/\/forge\.test\/[^"<>]*"/, '');
        for (const text of [ours, fleetMapSvg(map)]) {
          expect(text).not.toMatch(/<script|<img|<!--/i);
          expect((text.match(/<[^>]*>/g) ?? []).join('')).not.toMatch(/\s(on\w+|href|src)=/i);
          const names = new Set(
            [...text.matchAll(/<\/?([a-z!][a-z0-9]*)/gi)].map(([, name = '']) => name.toLowerCase()),
          );
          for (const name of names) expect(OURS, name).toContain(name);
        }
        expect(page.length).toBeLessThanOrEqual(60_000);
      }),
    );
  });
});

const OURS =
  '!doctype html head meta title style body header main section article div h1 h2 h3 p span strong small br ul li code pre table thead tbody tr th td figure svg rect g text details summary label input button a'.split(
    ' ',
  );

describe('a comment', () => {
  it.each([
    ['/berth plan', { kind: 'plan' }],
    ['/berth plan  \r\nthanks', { kind: 'plan' }],
    ['/berth approve 0a1b2c3d4e5f', { kind: 'approve', codes: ['0a1b2c3d4e5f'] }],
    [
      '/berth approve 0a1b2c3d4e5f ffffffffffff',
      { kind: 'approve', codes: ['0a1b2c3d4e5f', 'ffffffffffff'] },
    ],
    ['/Berth Approve `0A1B2C3D4E5F`', { kind: 'approve', codes: ['0a1b2c3d4e5f'] }],
    ['/berth approve', { kind: 'approve', codes: [] }],
    ['/berth help', { kind: 'help' }],
    ['/berth', { kind: 'help' }],
    ['/berth override few  it must be', { kind: 'override', text: 'few it must be' }],
    ['/berth overide few why', { kind: 'unknown', meant: '/berth override few why' }],
    ['/berth approve all', { kind: 'unknown', meant: '/berth approve' }],
    ['/berth aprove', { kind: 'unknown', meant: '/berth approve' }],
    ['/berth aproove 0a1b2c3d4e5f!', { kind: 'unknown', meant: '/berth approve' }],
    ['/berth approved 0a1b2c3d4e5f', { kind: 'unknown', meant: '/berth approve 0a1b2c3d4e5f' }],
    ['/berth plan now', { kind: 'unknown', meant: '/berth plan' }],
    ['/berth delete everything', { kind: 'unknown' }],
    ['/berthplan', undefined],
    ['> /berth plan', undefined],
    ['please /berth plan', undefined],
    [' /berth plan', undefined],
    ['', undefined],
  ])('%j asks for %j', (text, command) => {
    expect(commentCommand(text)).toEqual(command);
  });
});
