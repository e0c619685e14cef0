import { describe, expect, it } from 'vitest';
import {
  countCases,
  renderCounts,
  renderJunit,
  renderReport,
  type TestReport,
} from '../../../src/core/placement-test/render-report.ts';

const REPORTS: readonly TestReport[] = [
  {
    file: 'web/a.placement-test.yaml',
    name: 'a & "b"',
    problems: [],
    assumed: ['ManagedClusterSet global is assumed'],
    durationMs: 12,
    cases: [
      { name: 'passes', placement: 'web/x', failures: [], error: undefined },
      { name: 'fails <here>', placement: 'web/x', failures: ['one\u0007', 'two\nlines'], error: undefined },
      { name: 'broken', placement: 'web/x', failures: [], error: 'there is no cluster z' },
    ],
  },
  {
    file: 'b.placement-test.yaml',
    name: 'b',
    problems: ['b.placement-test.yaml:3:1: bad'],
    assumed: [],
    durationMs: 0,
    cases: [],
  },
];

describe('reports of placement tests', () => {
  it('become JUnit XML that holds any text', () => {
    expect(renderJunit(REPORTS)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="berth test" tests="4" failures="1" errors="2">
  <testsuite name="a &amp; &quot;b&quot;" file="web/a.placement-test.yaml" tests="3" failures="1" errors="1" time="0.012">
    <testcase classname="web/a.placement-test.yaml" name="passes"/>
    <testcase classname="web/a.placement-test.yaml" name="fails &lt;here&gt;">
      <failure message="one">one&#10;two&#10;lines</failure>
    </testcase>
    <testcase classname="web/a.placement-test.yaml" name="broken">
      <error message="there is no cluster z">there is no cluster z</error>
    </testcase>
  </testsuite>
  <testsuite name="b" file="b.placement-test.yaml" tests="1" failures="0" errors="1" time="0.000">
    <testcase classname="b.placement-test.yaml" name="b">
      <error message="b.placement-test.yaml:3:1: bad">b.placement-test.yaml:3:1: bad</error>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  it('read well as text', () => {
    expect(
      REPORTS.map((report) => renderReport(report, false)).join(''),
    ).toBe(`web/a.placement-test.yaml: a & "b"
  assumed: ManagedClusterSet global is assumed
  ok     passes
  FAIL   fails <here>
           one\\u0007
           two
           lines
  ERROR  broken
           there is no cluster z
b.placement-test.yaml: b
  ERROR  b.placement-test.yaml:3:1: bad
`);
    expect(renderCounts(countCases(REPORTS))).toBe('1 passed, 1 failed, 2 broken\n');
  });
});
