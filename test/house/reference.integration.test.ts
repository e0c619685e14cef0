import { readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import type { Metric, Registry } from 'prom-client';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { runCli, COMMANDS } from '../../src/app/cli/program.ts';
import { addControllerGauges } from '../../src/app/serve/http/controller-gauges.ts';
import type { ControllerHttpOptions } from '../../src/app/serve/http/controller-http-options.ts';
import { ControllerMetrics } from '../../src/app/serve/http/controller-metrics.ts';
import { RequestMetrics } from '../../packages/embedded-hub/src/http/request-metrics.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { repositoryFiles } from './repository-files.ts';
import { SOURCES } from './source-files.ts';

const PAGE = 'docs/reference.md';
const page = readFileSync(PAGE, 'utf8');
const named = new Set([...page.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''));
const sources = repositoryFiles(...SOURCES)
  .filter((file) => /\.(ts|ya?ml)$/.test(file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }));

describe('annotations and labels', () => {
  const ours = new Set(sources.flatMap(({ text }) => text.match(/\bberth\.dev\/[\w-]+/g) ?? []));
  const others = new Set(
    sources
      .filter(({ file }) => /^(?!packages\/embedded-hub\/).*\.ts$/.test(file))
      .flatMap(({ text }) => [...text.matchAll(/'([\w.-]+\.io\/[a-z][\w.-]+)'/g)])
      .map(([, name]) => name ?? '')
      .filter((name) => !/\/v\d+((alpha|beta)\d+)?$/.test(name)),
  );

  it('lists every name of ours that the code knows', () => {
    expect(ours.size).toBeGreaterThan(30);
    expect([...ours].filter((name) => !named.has(name)).sort()).toEqual([]);
  });

  it('lists every name of OCM, Argo CD and Kubernetes that the code reads or writes', () => {
    expect(others.size).toBeGreaterThan(10);
    expect([...others].filter((name) => !NOT_ON_OBJECTS.has(name) && !named.has(name)).sort()).toEqual([]);
  });

  it('lists no name of ours that the code does not know', () => {
    const listed = [...named].filter((name) => /^berth\.dev\/[\w-]+$/.test(name));
    expect(listed.filter((name) => !ours.has(name))).toEqual([]);
  });
});

/** A type of Secret, signers, and an extension of kubeconfigs. */
const NOT_ON_OBJECTS: ReadonlySet<string> = new Set([
  'kubernetes.io/service-account-token',
  'kubernetes.io/kube-apiserver-client',
  'open-cluster-management.io/proxy-agent-signer',
  'client.authentication.k8s.io/exec',
]);

describe('conditions', () => {
  const inCode = new Set(sources.filter(({ file }) => hasConditions(file)).flatMap(reasonsIn));
  const rows = /## Conditions\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
  const listed = new Set([...rows.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''));

  it('lists every reason that the code gives', () => {
    expect(inCode.size).toBeGreaterThan(40);
    expect([...inCode].filter((reason) => !listed.has(reason)).sort()).toEqual([]);
  });

  it('lists no condition and no reason that the code does not give', () => {
    const code = sources.map(({ text }) => text).join('\n');
    const unknown = [...listed].filter(
      (name) => /^(berth\.dev\/)?[A-Z][A-Za-z]+$/.test(name) && !code.includes(`'${name}'`),
    );
    expect(unknown).toEqual([]);
  });
});

/** Answers of the API server and of the user server have reasons too; those are the Kubernetes API's, not conditions. */
function hasConditions(file: string): boolean {
  return (
    !/^packages\/(access|embedded-hub)\/src\//.test(file) ||
    file === 'packages/embedded-hub/src/scheme/crd.ts' ||
    file.startsWith('packages/embedded-hub/src/controllers/')
  );
}

describe('metrics', () => {
  const controller = new ControllerMetrics();
  // Nothing is read until somebody asks for the metrics.
  addControllerGauges({ metrics: controller } as ControllerHttpOptions);
  const hub = new RequestMetrics({
    clusters: () => [],
    levels: () => [],
    connections: () => ({ count: 0, unidentified: 0, refused: 0 }),
  });

  it('are listed as the code registers them', () => {
    checkGenerated('metrics', [
      '| metric | of | type | labels | meaning |',
      '|---|---|---|---|---|',
      ...rowsOf('controller', controller.registry),
      ...rowsOf('hub', hub.registry),
    ]);
  });

  it('are all registered by one of the two', () => {
    const names = sources.flatMap(({ text }) => text.match(/'berth_\w+'/g) ?? []);
    expect(names.filter((name) => !named.has(name.slice(1, -1)))).toEqual([]);
    const registering = sources.filter(({ text }) => /from 'prom-client'/.test(text)).map(({ file }) => file);
    expect(registering.filter((file) => !/(controller|request)-metrics\.ts$/.test(file))).toEqual([]);
  });
});

describe('exit codes', () => {
  it('are listed as the help of each command says them', async () => {
    const rows: string[] = [];
    for (const words of commandsBelow(program())) {
      const { io, stdout } = makeCliIo();
      await runCli([...words, '--help'], io);
      const text = /^Exit codes: ([\s\S]*?)\n\n/m.exec(stdout())?.[1]?.replaceAll(/\s+/g, ' ');
      expect(text, `berth ${words.join(' ')} --help says its exit codes`).toBeDefined();
      rows.push(`| \`${['berth', ...words].join(' ')}\` | ${text} |`);
    }
    checkGenerated('exit codes', ['| command | exit codes |', '|---|---|', ...rows]);
  });
});

function program(): Command {
  const root = new Command('berth');
  for (const command of COMMANDS) command.register(root, () => () => Promise.resolve());
  return root;
}

/** The words of each command that does something: `create work`, not `create`. */
function commandsBelow(command: Command, words: readonly string[] = []): readonly (readonly string[])[] {
  return command.commands.flatMap((child) => {
    const own = [...words, child.name()];
    return child.commands.length > 0 ? commandsBelow(child, own) : [own];
  });
}

/** prom-client declares fewer fields of a metric than each has. */
type DescribedMetric = Metric & {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
};

function rowsOf(of: string, registry: Registry): readonly string[] {
  return (registry.getMetricsAsArray() as unknown as readonly DescribedMetric[])
    .map(({ name, help, labelNames, constructor }) => {
      const labels = labelNames.map((label) => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${of} | ${constructor.name.toLowerCase()} | ${labels} | ${help} |`;
    })
    .sort();
}

/** The rows of the page between the two marks are these, or become these. */
function checkGenerated(what: string, rows: readonly string[]): void {
  const mark = `<!-- generated: ${what} -->\n`;
  const now = readFileSync(PAGE, 'utf8');
  const from = now.indexOf(mark) + mark.length;
  const to = now.indexOf('<!-- end -->', from);
  expect(Math.min(from - mark.length, to)).toBeGreaterThan(0);
  const text = `${rows.join('\n')}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, now.slice(0, from) + text + now.slice(to));
  else expect(now.slice(from, to)).toBe(text);
}

/** String literals that are a condition's reason: `reason: 'X'`, a union named `…Reason`, `condition('False', 'X')`. */
function reasonsIn({ file, text }: { readonly file: string; readonly text: string }): readonly string[] {
  if (!/reason/i.test(text) || !file.endsWith('.ts')) return [];
  const found: string[] = [];
  const collect = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) && /^[A-Z][A-Za-z]{3,}$/.test(node.text)) found.push(node.text);
    ts.forEachChild(node, collect);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'reason') collect(node.initializer);
    else if (ts.isTypeAliasDeclaration(node) && node.name.text.endsWith('Reason')) collect(node);
    else if (ts.isCallExpression(node) && MAKE_CONDITIONS.has(node.expression.getText())) {
      const reason = node.arguments[1];
      if (reason !== undefined) collect(reason);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found.filter((reason) => !['True', 'False', 'Unknown'].includes(reason));
}

/** Local functions that make conditions; their second argument is the reason. */
const MAKE_CONDITIONS: ReadonlySet<string> = new Set(['available', 'plan', 'condition', 'hold', 'no']);
