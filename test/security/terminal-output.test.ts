import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import yaml from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/adapters/log/pino-logger.ts';
import type { CliCommand } from '../../src/app/cli/commands/cli-command.ts';
import type { CliIo } from '../../src/app/terminal/cli-io.ts';
import { renderDocument } from '../../src/app/terminal/output-format.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { renderProblems } from '../../src/app/terminal/problem-report.ts';
import { runCommands } from '../../src/app/cli/commands/run-commands.ts';
import { makeProgress, withSafeOutput, writePainted } from '../../src/app/terminal/terminal-output.ts';
import { createNarrator } from '../../src/app/demo/narrator.ts';
import { renderReport } from '../../src/core/placement-test/render-report.ts';
import { describeObject } from '../../src/core/listing/describe-object.ts';
import { listWorks } from '../../src/core/listing/list-works.ts';
import { describeManifests } from '../../src/core/work/describe-work.ts';
import { InputError } from '@berth/runtime/errors';
import { MANIFEST_WORK, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { makeCliIo } from '../app/cli-harness.ts';
import { startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

// A user who writes an object, a file or an error message writes to the terminal of the person who looks at it.

/** C0 but line feed and tab, DEL, C1, separators and the controls of bidirectional text. */
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const CODES = [
  ...range(0x00, 0x1f),
  ...range(0x7f, 0x9f),
  0x061c,
  0x200e,
  0x200f,
  ...range(0x2028, 0x202e),
  ...range(0x2066, 0x2069),
];
const EVERY = String.fromCharCode(...CODES);
/** Clears the screen, goes up a line, sets the title by C1, turns the text around, and begins a line of its own. */
const HOSTILE =
  '\u001b[2J\u001b[1A\r\u009d0;title\u0007\u202egnp.exe\u2066\nApplied: True \u001b[32mfine\u001b[0m';
const NAMES = 'équipe 日本 Ω 🚢 עברית עربية';

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

const work = (message: string): ManifestWork => ({
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { name: 'web', namespace: 'cluster1', generation: 1, labels: { a: message } },
  spec: { workload: { manifests: [] } },
  status: {
    conditions: [{ type: 'Applied', status: 'False', reason: message, message, observedGeneration: 1 }],
    resourceStatus: {
      manifests: [
        {
          resourceMeta: { ordinal: 0, kind: message, name: message },
          conditions: [{ type: 'Available', status: 'False', reason: 'x', message }],
          statusFeedback: { values: [{ name: message, fieldValue: { type: 'String', string: message } }] },
        },
      ],
    },
  },
});

/** Writes what it is given, as a command that forgot to escape anything would. */
const careless = (write: (io: CliIo) => void): CliCommand => ({
  register: (program, run) =>
    void program.command('careless').action(
      run((io) => {
        write(io);
        return Promise.resolve(0);
      }),
    ),
});

describe('berth describe and get', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster1' } });
    const { status, ...object } = work('plain');
    await hub.api.create(MANIFEST_WORK, {
      ...object,
      metadata: { name: 'web', namespace: 'cluster1' },
    });
    const values = [{ name: HOSTILE, fieldValue: { type: 'String', string: `${HOSTILE}${EVERY}${NAMES}` } }];
    const manifests = [
      { resourceMeta: { ordinal: 0, kind: HOSTILE }, conditions: [], statusFeedback: { values } },
    ];
    const lastTransitionTime = '2026-06-01T00:00:00Z';
    const conditions = [
      { ...status?.conditions?.[0], reason: 'Failed', message: HOSTILE, lastTransitionTime },
    ];
    const patch = { status: { conditions, resourceStatus: { manifests } } };
    const key = { namespace: 'cluster1', name: 'web' };
    await hub.api.mergePatch(MANIFEST_WORK, key, patch, { subresource: 'status' });
  });
  afterAll(() => hub.close());

  it.each([
    { name: 'describe', args: ['describe', 'work', 'web'] },
    { name: 'get', args: ['get', 'works'] },
    { name: 'get -o json', args: ['get', 'works', '-o', 'json'] },
    { name: 'get -o yaml', args: ['get', 'works', '-o', 'yaml'] },
  ])('berth $name shows what a status says, and does not obey it', async ({ args }) => {
    const { io, stdout, stderr } = makeCliIo();
    expect(await runCli([...args, '--kubeconfig', hub.kubeconfig], io), stderr()).toBe(0);
    expect(stdout()).not.toMatch(OBEYED);
    expect(stdout()).not.toMatch(/^Applied: True/m);
    if (args[0] === 'describe') expect(stdout().replaceAll(/\s+/g, ' ')).toContain(NAMES);
  });

  it.each(['json', 'yaml'] as const)('-o %s still says the same to a program', async (format) => {
    const { io, stdout } = makeCliIo();
    await runCli(['get', 'works', 'web', '-o', format, '--kubeconfig', hub.kubeconfig], io);
    const parsed = (format === 'json' ? JSON.parse(stdout()) : yaml.load(stdout())) as ManifestWork;
    const [manifest] = parsed.status?.resourceStatus?.manifests ?? [];
    expect(manifest?.statusFeedback?.values?.[0]?.fieldValue.string).toBe(`${HOSTILE}${EVERY}${NAMES}`);
  });
});

const describeWork = (object: ManifestWork): string =>
  describeObject(
    {
      object: object as unknown as KubeObject,
      listed: listWorks([object], 0),
      sections: [{ title: 'Manifests', lines: describeManifests(object) }],
      events: [],
    },
    0,
  );

describe('a text renderer', () => {
  it.each([
    { name: 'describe work', text: describeWork(work(HOSTILE)) },
    {
      name: 'the report of a placement test',
      text: renderReport(
        {
          file: HOSTILE,
          name: HOSTILE,
          problems: [HOSTILE],
          assumed: [HOSTILE],
          cases: [{ name: HOSTILE, failures: [HOSTILE], error: undefined, seconds: 0 }],
        } as never,
        false,
      ),
    },
    {
      name: 'a list of problems',
      text: renderProblems([{ severity: 'error', code: HOSTILE, message: HOSTILE, hint: HOSTILE }], false),
    },
  ])('of $name lets no value begin a line or draw', ({ text }) => {
    expect(text).not.toMatch(OBEYED);
    expect(text).not.toMatch(/^Applied: True/m);
  });

  it('shows names of every language as they are', () => {
    expect(describeWork(work(NAMES))).toContain(`Available False: ${NAMES}`);
  });
});

describe('what a command writes without care', () => {
  it.each(['stdout', 'stderr'] as const)(
    'is escaped on its way to %s, every control by itself',
    async (to) => {
      const { io, stdout, stderr } = makeCliIo();
      const command = careless((given) => given[to].write(`${EVERY}${NAMES}\n`));
      expect(await runCommands([command], ['careless'], io)).toBe(0);
      const text = to === 'stdout' ? stdout() : stderr();
      expect(text).not.toMatch(OBEYED);
      const kept: readonly number[] = [0x09, 0x0a];
      for (const code of CODES.filter((one) => !kept.includes(one)))
        expect(text).toContain(`\\u${code.toString(16).padStart(4, '0')}`);
      expect(text).toContain(NAMES);
    },
  );

  it('is escaped as bytes too, and through a logger', async () => {
    const { io, stderr } = makeCliIo();
    const command = careless(({ stderr: out }) => {
      out.write(Buffer.from(`${HOSTILE}\n`) as unknown as string);
      createLogger({ level: 'info', stream: out }).info('read', { name: `${EVERY}${NAMES}` });
    });
    await runCommands([command], ['careless'], io);
    expect(stderr()).not.toMatch(OBEYED);
    const logged = stderr().trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(logged)).toMatchObject({ name: `${EVERY}${NAMES}` });
  });

  it('is not escaped twice', async () => {
    const { io, stdout } = makeCliIo();
    const nested = careless((given) =>
      withSafeOutput(withSafeOutput(given)).stdout.write('a\u001bb \\u001b\n'),
    );
    await runCommands([nested], ['careless'], io);
    expect(stdout()).toBe('a\\u001bb \\u001b\n');
  });
});

describe('an error', () => {
  it('forges no second message and no hint', async () => {
    const { io, stderr } = makeCliIo();
    const command = careless(() => {
      throw new InputError(`got ${HOSTILE}\nerror: all is lost`, {
        code: 'x',
        subject: HOSTILE,
        hint: `do\nhint: run this${HOSTILE}`,
      });
    });
    expect(await runCommands([command], ['careless'], io)).toBe(1);
    expect(stderr()).not.toMatch(OBEYED);
    expect(stderr().match(/^error: /gm)).toHaveLength(1);
    expect(stderr().match(/^hint: /gm)).toHaveLength(1);
  });

  it('that quotes an argument does not obey it', async () => {
    const { io, stderr } = makeCliIo();
    expect(await runCli([HOSTILE], io)).toBe(1);
    expect(stderr()).not.toMatch(OBEYED);
  });
});

describe('colours and progress', () => {
  const coloured = () => {
    const { io, stdout, stderr } = makeCliIo({ colour: true });
    Object.assign(io.stderr, { isTTY: true });
    return { io: withSafeOutput(io), stdout, stderr };
  };

  it('of our own stay, those of a value do not', () => {
    const { io, stdout } = coloured();
    const problem = { severity: 'error', code: 'x', message: HOSTILE } as const;
    writePainted(io.stdout, renderProblems([problem], true));
    expect(stdout()).toContain('\u001b[31merror\u001b[0m');
    expect(stdout().replaceAll(/\u001b\[(?:31|0)m/g, '')).not.toMatch(OBEYED);
    expect(stdout()).not.toContain('\u001b[32m');
  });

  it('of a painted text that was not escaped at least leave the cursor alone', () => {
    const { io, stdout } = coloured();
    writePainted(io.stdout, HOSTILE);
    expect(stdout().replaceAll(/\u001b\[\d+m/g, '')).not.toMatch(OBEYED);
  });

  it('report what is being read in one line', () => {
    const { io, stderr } = coloured();
    makeProgress(io).report(`reading ${HOSTILE}`);
    expect(stderr()).toMatch(/^\r\u001b\[2Kreading /);
    expect(stderr().slice(5)).not.toMatch(OBEYED);
    expect(stderr()).not.toContain('\n');
  });

  it('report the story of the demo without what its objects say', () => {
    const { io, stdout } = coloured();
    const narrator = createNarrator(io, new FakeClock());
    narrator.print('work', HOSTILE);
    narrator.detail(HOSTILE);
    narrator.block(`${HOSTILE}\n`);
    expect(stdout().replaceAll(/\u001b\[(?:2|22|32|39)m/g, '')).not.toMatch(OBEYED);
    expect(
      stdout()
        .split('\n')
        .filter((line) => line.startsWith('Applied')),
    ).toEqual([]);
  });
});

describe('a document', () => {
  const value = {
    [HOSTILE]: [EVERY, NAMES, 'plain', 1, true, null, { nested: `x\u202ey` }],
    left: undefined,
  };

  it.each(['json', 'yaml'] as const)('in %s is safe to look at and means what it meant', async (format) => {
    const text = await renderDocument(value, format);
    expect(text).not.toMatch(OBEYED);
    const { left: _left, ...rest } = value;
    expect(format === 'json' ? JSON.parse(text) : yaml.load(text)).toEqual(rest);
    expect(text).toContain('🚢');
  });
});

describe('files and paths', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-terminal-'));
    mkdirSync(join(folder, 'fleet'));
    const name = 'n\u202e\u001b[31m';
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: name, labels: 1 } };
    writeFileSync(join(folder, 'fleet', 'a\u2066b\u009b.yaml'), JSON.stringify(object));
    writeFileSync(join(folder, 'x.placement-test.yaml'), `name: "${'\\u001b'}[2J"\nnope: 1\n`);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    { args: ['validate', 'fleet'] },
    { args: ['validate', 'fleet', '-o', 'yaml'] },
    { args: ['explain', 'a\u202e/b\u001b[31m', '--from', 'fleet'] },
    { args: ['test', '.'] },
    { args: ['history', '--data', 'none\u001b[2J'] },
    { args: ['status', '--token-file', 'none\u009b31m'] },
    { args: ['plan', '--base', 'none\u202e', '--repo', 'x\u001b[2J'] },
  ])('of %j do not draw', async ({ args }) => {
    const { io, stdout, stderr } = makeCliIo({ cwd: folder });
    await runCli(args, io);
    expect(`${stdout()}${stderr()}`).not.toBe('');
    expect(`${stdout()}${stderr()}`).not.toMatch(OBEYED);
  });
});
