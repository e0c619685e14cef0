import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { goTemplates } from '@berth/addon/go-templates';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ANNOTATED, CONFIGURED, contextOf } from './source-context.ts';

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'go-templates-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const configMap = (data: string, name = 'a') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: "{{ .AddonInstallNamespace }}"}\ndata: {${data}}\n`;

describe('a folder of Go templates', () => {
  it('makes the objects of all its files, in the order of their names', async () => {
    const folder = folderOf({
      'b.yaml': `${configMap('x: y', 'b1')}---\n# nothing\n---\n${configMap('x: y', 'b2')}`,
      'a/first.yaml': configMap('cluster: "{{ .ClusterName }}", mode: "{{ .InstallMode }}"', 'a1'),
      'empty.yaml': '{{ if eq .InstallMode "Hosted" }}never{{ end }}',
      'list.yaml':
        'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: l1}}]\n',
    });
    const made = await goTemplates(folder)(contextOf({ installNamespace: 'agents' }));
    expect(made.map(({ metadata }) => metadata.name)).toEqual(['a1', 'b1', 'b2', 'l1']);
    expect(made[0]).toMatchObject({
      metadata: { namespace: 'agents' },
      data: { cluster: 'cluster1', mode: 'Default' },
    });
  });

  it('lets the annotation win over the configuration, and this over given values; built-in values stay', async () => {
    const folder = folderOf({
      'a.yaml': configMap(
        'a: "{{ .A }}", b: "{{ .B }}", c: "{{ .C }}", cluster: "{{ .ClusterName }}", secret: "{{ .HubKubeConfigSecret }}", count: "{{ .N }}"',
      ),
    });
    const values = {
      A: 'given',
      B: 'given',
      C: 'given',
      N: 1_000_000,
      ClusterName: 'x',
      HubKubeConfigSecret: 'own',
    };
    const context = contextOf({
      ...CONFIGURED([
        { name: 'B', value: 'configured' },
        { name: 'C', value: 'configured' },
      ]),
      ...ANNOTATED({ C: 'annotated' }),
    });
    const want = {
      a: 'given',
      b: 'configured',
      c: 'annotated',
      cluster: 'cluster1',
      secret: 'own',
      count: '1000000',
    };
    expect(await goTemplates(folder, { values })(context)).toMatchObject([{ data: want }]);
    const asked = goTemplates(folder, {
      values: async ({ cluster }) => ({ ...values, A: cluster.metadata.name }),
    });
    expect(await asked(context)).toMatchObject([{ data: { ...want, a: 'cluster1' } }]);
  });

  it.each([
    {
      name: 'a missing value',
      text: configMap('x: "{{ .Missing }}"'),
      problem: 'a.yaml: prints a value that is missing, in line 4',
    },
    {
      name: 'a template with an error',
      text: '{{ if }}',
      problem: 'a.yaml: failed to parse template template:',
    },
    { name: 'no YAML', text: 'a: [', problem: 'a.yaml: is rendered to something that is not YAML' },
    {
      name: 'no object',
      text: '- a',
      problem: 'a.yaml: is rendered to something without apiVersion and kind',
    },
    {
      name: 'no name',
      text: 'apiVersion: v1\nkind: Secret',
      problem: 'a.yaml: is rendered to a Secret without a name',
    },
  ])('refuses $name', async ({ text, problem }) => {
    await expect(goTemplates(folderOf({ 'a.yaml': text }))(contextOf())).rejects.toThrow(problem);
  });

  it('refuses a folder that is not there, or is empty, when the add-on is defined', () => {
    expect(() => goTemplates('/no/such/folder')).toThrow('/no/such/folder: cannot be read');
    expect(() => goTemplates(folderOf({}))).toThrow('is empty, expected files with Go templates');
  });
});
