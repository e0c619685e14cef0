import { describe, expect, it } from 'vitest';
import type { Problem } from '@berth/runtime/problem/problem';
import { makePlan } from '../../../../src/core/preview/make-plan.ts';
import type { Plan } from '../../../../src/core/preview/plan.ts';
import { planSarif } from '../../../../src/core/preview/views/plan-sarif.ts';
import { SCRIPT } from '../../../../src/core/preview/report/report-style.ts';
import { renderPlanHtml } from '../../../../src/core/preview/report/report-page.ts';
import { renderPlanJunit } from '../../../../src/core/preview/views/render-plan-junit.ts';
import { renderPlanText } from '../../../../src/core/preview/views/render-plan-text.ts';
import { cluster, judges, placement, side } from '../plan-fixture.ts';

const HOSTILE = `</td><script>alert(1)</script>\u202e"'&]]>\u001b[31m`;
const at = (file: string) => ({ file, line: 3, column: 5 });

function hostilePlan(): Plan {
  const base = side('aaaa', [cluster('c1'), placement('web')], { web: ['c1'] });
  const head = side('bbbb', [cluster('c1'), placement('web')], { web: { misconfigured: HOSTILE } });
  return {
    ...makePlan(base, head, judges),
    whatIf: [HOSTILE],
    notEvaluated: [HOSTILE],
    findings: [
      {
        code: 'held',
        severity: 'danger',
        subject: HOSTILE,
        message: HOSTILE,
        location: at(`a b/${HOSTILE}`),
      },
      { code: 'unsatisfied', severity: 'warning', subject: 'x', message: 'y' },
    ],
    rules: {
      changed: false,
      head: [],
      base: [
        {
          name: HOSTILE,
          effect: 'deny',
          outcome: 'broken',
          message: HOSTILE,
          owners: [HOSTILE],
          location: at('r'),
        },
        { name: 'soft', effect: 'warn', outcome: 'broken', message: 'm', owners: [], location: at('r') },
        { name: 'fine', effect: 'deny', outcome: 'kept', message: 'm', owners: [], location: at('r') },
      ],
    },
  };
}
const PROBLEMS: readonly Problem[] = [
  { severity: 'error', code: 'yaml.syntax', message: HOSTILE, location: at('web.yaml') },
  { severity: 'warning', code: 'schema.type', message: 'w' },
];

describe('views of a plan', () => {
  it('HTML is one page that loads nothing and cannot be broken out of', () => {
    const [html = '', ...end] = renderPlanHtml(hostilePlan()).split(`<script>${SCRIPT}</script>`);
    expect(end).toEqual(['</body></html>\n']);
    expect(html).not.toMatch(/<script|alert\(1\)<\/|javascript:|https?:|url\(|<img|<link|\son\w+=/);
    expect(html).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e]/);
    expect(html).toContain("default-src 'none'");
    expect(html).toContain('<p class="verdict stopped">');
    const opened = [
      ...html.matchAll(/<(h1|h2|h3|table|tr|td|th|ul|li|p|code|span|section|article|details)\b/g),
    ].length;
    expect([
      ...html.matchAll(/<\/(h1|h2|h3|table|tr|td|th|ul|li|p|code|span|section|article|details)>/g),
    ]).toHaveLength(opened);
  });

  it('JUnit fails for what stops, and for problems', () => {
    const xml = renderPlanJunit(hostilePlan(), PROBLEMS);
    expect(xml).toContain('tests="8" failures="3" errors="0"');
    expect(xml).not.toContain('<script');
  });

  it('SARIF has each finding with its place', () => {
    const { runs } = planSarif(hostilePlan(), PROBLEMS);
    expect(runs[0]?.results.map(({ ruleId, level }) => `${level} ${ruleId}`)).toEqual([
      `error rule.${HOSTILE}`,
      'warning rule.soft',
      'error risk.held',
      'warning risk.unsatisfied',
      'error yaml.syntax',
      'warning schema.type',
    ]);
    expect(runs[0]?.results[4]?.locations).toEqual([
      {
        physicalLocation: {
          artifactLocation: { uri: 'web.yaml' },
          region: { startLine: 3, startColumn: 5 },
        },
      },
    ]);
  });

  it('a terminal gets colours of ours alone, and none where it is no terminal', () => {
    const plan = hostilePlan();
    expect(renderPlanText(plan)).not.toContain('\u001b');
    const colours = new Set(renderPlanText(plan, true).match(/\u001b\[\d+m/g));
    expect([...colours].sort()).toEqual(['\u001b[0m', '\u001b[31m', '\u001b[33m']);
    // The text of others is escaped before anything is painted.
    expect(renderPlanText(plan, true)).toContain('\\u001b[31m');
  });
});
