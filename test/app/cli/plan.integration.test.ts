import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';
import type { FixtureFile } from '../../../packages/git-reader/test/git-fixture.ts';
import { makeCliIo } from '../cli-harness.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '../../../examples/guestbook-fleet');

function exampleFiles(): Record<string, FixtureFile> {
  const files = readdirSync(EXAMPLE, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map((entry) => {
      const full = path.join(entry.parentPath, entry.name);
      return [path.relative(EXAMPLE, full), readFileSync(full)];
    }),
  );
}

describe('berth plan', () => {
  let fixture: GitFixture;
  beforeEach(() => {
    fixture = new GitFixture();
    fixture.commit(exampleFiles(), { message: 'The fleet' });
    fixture.git('branch', 'change');
  });
  afterEach(() => fixture.remove());

  async function plan(...args: string[]) {
    const { io, stdout, stderr } = makeCliIo({ cwd: fixture.dir, env: process.env });
    const code = await runCli(['plan', ...args], io);
    return { code, stdout: stdout(), stderr: stderr() };
  }
  const tainted = () =>
    readFileSync(path.join(EXAMPLE, 'clusters/cluster1.yaml'), 'utf8').replace(
      /^spec:\n/m,
      'spec:\n  taints:\n    - key: maintenance\n      effect: NoSelect\n',
    );

  it('says that nothing changes, with exit code 0, also for a file that is only moved', async () => {
    expect(await plan('--base', 'main', '--head', 'change')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No changes.'),
    });
    fixture.commit(
      {
        'clusters/cluster1.yaml': null,
        'clusters/one.yaml': readFileSync(path.join(EXAMPLE, 'clusters/cluster1.yaml')),
      },
      { branch: 'change' },
    );
    expect((await plan('--base', 'main', '--head', 'change')).code).toBe(0);
  });

  it('says what moves where and why, with exit code 2', async () => {
    fixture.commit({ 'clusters/cluster1.yaml': tainted() }, { branch: 'change', message: 'Drain cluster1' });
    const { code, stdout, stderr } = await plan('--base', 'main', '--head', 'change');
    expect(code).toBe(2);
    expect(stdout).toMatch(/~ guestbook\/frontend: 1 → 1 clusters/);
    expect(stdout).toMatch(/\+ cluster2: cluster1 has the taint maintenance$/m);
    expect(stdout).toMatch(/- cluster1: it has the taint maintenance$/m);
    expect(stdout).toMatch(/~ ManifestWorkReplicaSet guestbook\/frontend moves: \+ cluster2; - cluster1/);
    expect(stdout).toMatch(/~ ManagedCluster cluster1 \(spec\.taints\)/);
    const later =
      'guestbook/metrics leaves cluster1 one hour after the merge, when its toleration of a taint ends (tolerationSeconds)';
    expect(stdout).toContain(`\nLater, within 24 hours, if nothing else changes:\n  ${later}\n`);
    expect(stdout).toContain('No PlacementDecisions are recorded');
    expect(stderr).toBe('');
    // The same commits give the same bytes.
    expect((await plan('--base', 'main', '--head', 'change')).stdout).toBe(stdout);
  });

  it('calls an unknown field the error that `berth validate` calls it', async () => {
    const file = 'team-guestbook/placements/frontend.yaml';
    const unknown = readFileSync(path.join(EXAMPLE, file), 'utf8').replace(
      /^spec:\n/m,
      'spec:\n  numberOfCluster: 1\n',
    );
    fixture.commit({ [file]: unknown }, { branch: 'change' });
    const { code, stderr } = await plan('--base', 'main', '--head', 'change');
    const sentence =
      'spec.numberOfCluster: is not a field of this kind, and the hub refuses the object because of it [schema.unknown-field]';
    expect(stderr).toMatch(/frontend\.yaml:\d+:3 @ \w+: error: Placement guestbook\/frontend: /);
    expect(stderr).toContain(sentence);
    expect(code).toBe(1);
    const folder = path.join(tempDir(), 'fleet');
    cpSync(EXAMPLE, folder, { recursive: true });
    writeFileSync(path.join(folder, file), unknown);
    const { io, stdout } = makeCliIo({ cwd: folder });
    expect(await runCli(['validate', '.'], io)).toBe(1);
    expect(stdout()).toContain(sentence);
  });

  it('as JSON and Markdown', async () => {
    fixture.commit({ 'clusters/cluster1.yaml': tainted() }, { branch: 'change' });
    const json = JSON.parse(
      (await plan('--base', 'main', '--head', 'change', '-o', 'json')).stdout,
    ) as object;
    expect(json).toMatchObject({
      hasChanges: true,
      problems: expect.any(Array),
      placements: [
        {
          name: 'frontend',
          added: [{ cluster: 'cluster2' }],
          removed: [{ cluster: 'cluster1' }],
          token: expect.stringMatching(/^[0-9a-f]{12}$/),
        },
      ],
    });
    const { stdout } = await plan('--base', 'main', '--head', 'change', '-o', 'markdown');
    expect(stdout).toMatch(/^<!-- berth:plan -->\n### 🔀 Berth: 1 placement would change: \+1 −1 clusters/);
  });

  describe('when the base has moved on', () => {
    // Cluster1 is drained here, cluster2 went there: only the merge of both leaves nothing to go to.
    beforeEach(() => {
      fixture.commit({ 'clusters/cluster1.yaml': tainted() }, { branch: 'change' });
      fixture.commit({ 'clusters/cluster2.yaml': null });
    });

    it('shows what the merge of both brings, without a trace in the repository', async () => {
      const objects = () => fixture.git('count-objects', '-v');
      const before = objects();
      const { code, stdout } = await plan('--base', 'main', '--head', 'change');
      expect(code).toBe(3);
      expect(stdout).toMatch(
        /main has moved on since change branched off at [0-9a-f]{12}; the plan shows the merge of both/,
      );
      expect(stdout).toMatch(/guestbook\/frontend: 1 → 0 clusters/);
      expect(stdout).toMatch(/! held \(WouldEmpty\)/);
      // That was the base's doing.
      expect(stdout).not.toContain('cluster2');
      expect((await plan('--base', 'main', '--head', 'change')).stdout).toBe(stdout);
      expect(objects()).toBe(before);
    });

    it('shows the head alone when asked to', async () => {
      const { code, stdout } = await plan('--base', 'main', '--head', 'change', '--from-merge-base');
      expect(code).toBe(2);
      expect(stdout).toContain('the plan starts there and shows change alone');
      expect(stdout).toMatch(/\+ cluster2: cluster1 has the taint maintenance/);
    });

    it('names the files of a merge that does not work by itself', async () => {
      fixture.commit({ 'clusters/cluster1.yaml': null });
      expect(await plan('--base', 'main', '--head', 'change')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /change: does not merge into main by itself: both changed clusters\/cluster1\.yaml\n.*--from-merge-base/,
        ) as string,
      });
    });

    it('names the head’s commit for problems that it brings', async () => {
      const head = fixture.commit({ 'clusters/cluster3.yaml': 'spec: [' }, { branch: 'change' });
      const { code, stderr } = await plan('--base', 'main', '--head', 'change');
      expect(code).toBe(1);
      expect(stderr).toContain(`clusters/cluster3.yaml:1:7 @ ${head.slice(0, 8)}: error`);
    });

    it('has nothing to show for what was merged already', async () => {
      fixture.git('branch', 'old', 'main~1');
      const { code, stdout } = await plan('--base', 'main', '--head', 'old');
      expect(code).toBe(0);
      expect(stdout).toContain('main already contains everything of old');
    });
  });

  it('shows what would be held', async () => {
    fixture.commit(
      { 'clusters/cluster1.yaml': tainted(), 'clusters/cluster2.yaml': null, 'clusters/cluster3.yaml': null },
      { branch: 'change' },
    );
    const { stdout } = await plan('--base', 'main', '--head', 'change');
    expect(stdout).toMatch(/! held \(WouldEmpty\): .*berth\.dev\/release: "[0-9a-f]{12}"/);
  });

  it('keeps the last good version of a broken file, names the error, and fails', async () => {
    fixture.commit({ 'team-guestbook/placements/frontend.yaml': 'spec: [' }, { branch: 'change' });
    const { code, stdout, stderr } = await plan('--base', 'main', '--head', 'change');
    expect(code).toBe(1);
    expect(stdout).toContain('No changes.');
    expect(stdout).toContain('the last good version of their objects counts');
    expect(stderr).toMatch(
      /team-guestbook\/placements\/frontend\.yaml:1:\d+ @ [0-9a-f]{8}: error: .*\[yaml\.syntax\]/,
    );
  });

  it('counts only what berth serve applies: OCM kinds, namespaces, and the kinds that its options name', async () => {
    const kinds = ['Namespace', 'ConfigMap', 'Secret'].map(
      (kind) => `apiVersion: v1\nkind: ${kind}\nmetadata: {name: x, namespace: default}\n`,
    );
    fixture.commit(
      { 'more.yaml': kinds.join('---\n').replace(', namespace: default', '') },
      { branch: 'change' },
    );
    const objectsOf = async (...flags: string[]) => {
      const { stdout, code } = await plan('--base', 'main', '--head', 'change', '-o', 'json', ...flags);
      const { objects, problems } = JSON.parse(stdout) as {
        objects: { ref: { kind: string } }[];
        problems: { code: string; severity: string; message: string; location: { line: number } }[];
      };
      return { code, kinds: objects.map(({ ref }) => ref.kind), problems };
    };
    const usual = await objectsOf();
    expect(usual).toMatchObject({ code: 2, kinds: ['Namespace'] });
    const notApplied = {
      code: 'source.kind-not-listed',
      severity: 'warning',
      message: expect.stringContaining('is applied to a hub only by a source that lists the kind') as string,
    };
    expect(usual.problems).toMatchObject([notApplied, notApplied]);
    const listed = await objectsOf('--kind', '/ConfigMap', '/Secret');
    expect(listed).toMatchObject({ code: 2, problems: [] });
    expect(listed.kinds.sort()).toEqual(['ConfigMap', 'Namespace', 'Secret']);
  });

  it('reads a clone from any folder inside it, and its remote branches', async () => {
    const clone = path.join(tempDir(), 'clone');
    execFileSync('git', ['clone', '-q', fixture.dir, clone]);
    fixture.commit({ 'clusters/cluster1.yaml': tainted() }, { branch: 'change' });
    execFileSync('git', ['fetch', '-q'], { cwd: clone });
    const { io, stdout } = makeCliIo({ cwd: path.join(clone, 'clusters'), env: process.env });
    expect(await runCli(['plan', '--base', 'main', '--head', 'change'], io)).toBe(2);
    expect(stdout()).toContain('guestbook/frontend');
  });

  it.each([
    [['--base', 'gone', '--head', 'main'], 'Git ref gone: not found'],
    [['--base', 'main', '--kind', 'ConfigMap'], '--kind: got "ConfigMap", expected GROUP/KIND'],
    [
      ['--base', 'main', '--kind', '/ConfigMap', '--config', 'x.yaml'],
      '--kind: cannot be used with --config',
    ],
    [['--base', 'main', '--embedded'], '--embedded: has no effect without --hub'],
    [['--base', 'main', '--now', 'tomorrow'], '--now: got "tomorrow"'],
    [['--base', 'main', '--repo', '/'], 'is not inside a Git repository'],
  ])('refuses %j with a clear sentence', async (args, message) => {
    expect(await plan(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
  });

  it('takes recorded decisions for what is published now', async () => {
    const decision = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: frontend-decision-1
  namespace: guestbook
  labels: {cluster.open-cluster-management.io/placement: frontend}
status:
  decisions: [{clusterName: cluster1, reason: ""}]
`;
    fixture.commit({ 'recorded/decisions.yaml': decision });
    fixture.git('branch', '-f', 'change', 'main');
    fixture.commit({ 'clusters/cluster1.yaml': tainted() }, { branch: 'change' });
    const { stdout } = await plan('--base', 'main', '--head', 'change');
    expect(stdout).not.toContain('No PlacementDecisions are recorded');
    expect(stdout).toMatch(/- cluster1: it has the taint maintenance/);
  });

  it('names a file that is emptied, and one that is moved where nobody looks', async () => {
    const cluster1 = readFileSync(path.join(EXAMPLE, 'clusters/cluster1.yaml'));
    fixture.commit(
      {
        'clusters/cluster1.yaml': null,
        'drafts/cluster1.yaml.bak': cluster1,
        'clusters/cluster2.yaml': '# nothing yet\n',
      },
      { branch: 'change' },
    );
    const { stdout } = await plan('--base', 'main', '--head', 'change', '-o', 'table');
    expect(stdout).toMatch(
      /clusters\/cluster1\.yaml is now drafts\/cluster1\.yaml\.bak, which source fleet does not select, so \d+ objects? leaves? source fleet: ManagedCluster cluster1/,
    );
    expect(stdout).toMatch(
      /clusters\/cluster2\.yaml declares nothing any more, so \d+ objects? leaves? source fleet: ManagedCluster cluster2/,
    );
  });

  it('says that a document without kind and apiVersion keeps what its file declared before', async () => {
    fixture.commit(
      { 'clusters/cluster1.yaml': 'metadata:\n  name: cluster1\nspec: {}\n' },
      { branch: 'change' },
    );
    const { code, stdout, stderr } = await plan('--base', 'main', '--head', 'change', '-o', 'table');
    expect(code).toBe(1);
    expect(stderr).toMatch(/clusters\/cluster1\.yaml:1:1 @ \w+: error: is not a Kubernetes object/);
    expect(stdout).not.toContain('- ManagedCluster cluster1');
  });
});
