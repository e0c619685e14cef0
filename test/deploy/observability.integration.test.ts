import { existsSync, readFileSync, renameSync } from 'node:fs';
import { load } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENT } from '@berth/kube/model/kinds';
import { TransientError } from '@berth/runtime/errors';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rules = (
  load(readFileSync('deploy/observability/alerts.yaml', 'utf8')) as { groups: { rules: readonly Rule[] }[] }
).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(readFileSync('deploy/observability/dashboard.json', 'utf8')) as {
  panels: readonly Panel[];
};

/** Labels that Prometheus adds to each sample. */
const OF_PROMETHEUS: ReadonlySet<string> = new Set(['instance', 'le']);

/** The labels of each metric in a text of /metrics: those of its samples. */
function metricsIn(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = ''] of text.matchAll(/^# TYPE (\w+)/gm)) found.set(name, new Set());
  for (const [, sample = '', labels = ''] of text.matchAll(/^(berth_\w+)(?:\{(.*)\})? /gm)) {
    const name = found.has(sample) ? sample : sample.replace(/_(bucket|sum|count)$/, '');
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) found.get(name)?.add(label);
  }
  return found;
}

/** Metrics and labels that an expression and its texts use. */
function usedBy(expr: string, texts: readonly string[]) {
  const names = [...expr.matchAll(/\bberth_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
  const grouped = [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/, ?/),
  );
  const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/(\w+)(?==|!=|=~)/g)].map(([, label = '']) => label),
  );
  const shown = texts.flatMap((text) =>
    [...text.matchAll(/\$labels\.(\w+)|\{\{(\w+)\}\}/g)].map(([, one, other]) => one ?? other ?? ''),
  );
  return { names, labels: [...grouped, ...matched, ...shown].filter((label) => !OF_PROMETHEUS.has(label)) };
}

const USES = [
  ...rules.map((rule) => ({
    name: rule.alert,
    ...usedBy(rule.expr, [rule.annotations.summary]),
  })),
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ name: `panel ${title}`, ...usedBy(expr, [legendFormat]) })),
  ),
];

describe('alerts and dashboard', () => {
  let fleet: ServedFleet;
  let url: string;
  const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const value = async (sample: string): Promise<number | undefined> => {
    const line = (await metrics()).split('\n').find((one) => one.startsWith(`${sample} `));
    return line === undefined ? undefined : Number(line.slice(sample.length));
  };
  const web = (numberOfClusters: number) => ({
    'web.yaml': yaml(placement('web', { numberOfClusters })),
  });
  const reasons = async (): Promise<readonly unknown[]> => {
    const { items } = await fleet.hub.api.list(EVENT, { namespace: 'team-a' });
    return items.map((event) => event['reason']);
  };

  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, ...web(6) });
    url = (await fleet.serve({ http: fleet.http() })).url ?? '';
    await fleet.published('web');
  });
  afterEach(() => fleet.close());

  it('use metrics and labels that a running controller has', async () => {
    const ask = async (): Promise<number> => {
      const { status } = await fetch(`${url}/api/v1/getparams.execute`, {
        method: 'POST',
        headers: { authorization: 'Bearer a-token-of-this-test' },
        body: JSON.stringify({
          applicationSetName: 'web',
          input: { parameters: { placement: 'team-a/web' } },
        }),
      });
      return status;
    };
    // The endpoint reads the pages by a watch of its own.
    await expect.poll(ask).toBe(200);
    fleet.git.commit(web(1));
    await fleet.held('web', 'True');
    await expect.poll(() => value('berth_oldest_hold_seconds')).toBeDefined();
    const known = metricsIn(await metrics());
    for (const { name, names, labels } of USES) {
      expect(names, name).not.toEqual([]);
      for (const metric of names) expect([...known.keys()], name).toContain(metric);
      const all = names.flatMap((metric) => [...(known.get(metric) ?? [])]);
      // What no work has been written for has no sample yet.
      if (names.includes('berth_works_written_total')) continue;
      for (const label of labels) expect(all, `${name}: ${label}`).toContain(label);
    }
  });

  it('see a hold begin, grow old and end with its release, which an Event shows', async () => {
    fleet.git.commit(web(1));
    const { reason = '', message = '' } = await fleet.held('web', 'True');
    await expect.poll(() => value(`berth_placements_held{reason="${reason}"}`)).toBe(1);
    await fleet.advance(7_200_000);
    expect(await value('berth_oldest_hold_seconds')).toBeGreaterThan(7_000);
    const code = /release: "([0-9a-f]{12})"/.exec(message)?.[1] ?? '';
    expect(code).not.toBe('');
    const release = ['release', 'team-a/web', '--token', code, '--as', 'Grace'];
    expect((await fleet.berth(...release, '--kubeconfig', fleet.hub.kubeconfig)).code).toBe(0);
    await fleet.held('web', 'False');
    await expect.poll(() => value('berth_oldest_hold_seconds')).toBe(0);
    await expect.poll(reasons).toEqual(expect.arrayContaining(['Held', 'Released']) as unknown[]);
  });

  it('see a source fail and recover, and problems in it', async () => {
    expect(await value('berth_source_failing_seconds{source="fleet"}')).toBe(0);
    const away = `${fleet.git.path}-away`;
    renameSync(fleet.git.path, away);
    await fleet.event('error');
    await fleet.advance(900_000);
    expect(await value('berth_source_failing_seconds{source="fleet"}')).toBeGreaterThan(600);
    renameSync(away, fleet.git.path);
    await expect.poll(() => value('berth_source_failing_seconds{source="fleet"}')).toBe(0);
    fleet.git.commit({ 'broken.yaml': 'a: [' });
    await expect.poll(() => value('berth_source_problems{source="fleet"}')).toBeGreaterThan(0);
    await expect.poll(() => value('berth_source_unfollowed_seconds{source="fleet"}')).toBe(0);
  });

  it('see a hub that cannot be reached, and a commit that it does not follow', async () => {
    await fleet.stop();
    const hub = { isAway: false };
    const gone = new TransientError('does not answer', { code: 'kube.unreachable', subject: 'hub' });
    const api = new Proxy(fleet.hub.api, {
      get: (real, name) => {
        const own: unknown = Reflect.get(real, name);
        if (name === 'apply' && hub.isAway) return () => Promise.reject(gone);
        return typeof own === 'function' ? (own.bind(real) as unknown) : own;
      },
    });
    const hubProblem = (): string | undefined => (hub.isAway ? 'does not answer' : undefined);
    url = (await fleet.serve({ http: fleet.http(), api, hubProblem })).url ?? '';
    await expect.poll(() => value('berth_source_unfollowed_seconds{source="fleet"}')).toBe(0);
    expect(await value('berth_hub_reachable')).toBe(1);
    hub.isAway = true;
    fleet.git.commit(web(5));
    await expect.poll(() => value('berth_source_unfollowed_seconds{source="fleet"}')).toBeGreaterThan(0);
    expect(await value('berth_hub_reachable')).toBe(0);
    hub.isAway = false;
    await expect.poll(() => value('berth_source_unfollowed_seconds{source="fleet"}')).toBe(0);
  });
});

describe('each alert', () => {
  const page = existsSync('docs/alerts.md') ? readFileSync('docs/alerts.md', 'utf8') : '';

  it.each(rules)('$alert has a summary, a severity and a runbook', ({ alert, labels, annotations }) => {
    expect(annotations.summary).not.toBe('');
    expect(['warning', 'critical']).toContain(labels.severity);
    expect(annotations.runbook).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
    expect(page).toContain(`\n## ${alert}\n`);
  });
});
