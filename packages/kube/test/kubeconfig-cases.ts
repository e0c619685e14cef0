/** What a kubeconfig says, in short: context → "cluster user", cluster → "server CA", user → credentials. */
export interface KubeconfigSummary {
  readonly current: string;
  readonly contexts: Readonly<Record<string, string>>;
  readonly clusters: Readonly<Record<string, string>>;
  readonly users: Readonly<Record<string, string>>;
}

export interface KubeconfigCase {
  readonly name: string;
  /** Paths below a folder of the case's own, and what is in them. */
  readonly files: Readonly<Record<string, string>>;
  /** Entries are paths below that folder; undefined: the variable is not set. HOME is the folder `home` in it. */
  readonly list: string | undefined;
  /** Recorded from kubectl 1.32: `kubectl config view --raw --flatten`. 'refused': it exits with an error. */
  readonly want: KubeconfigSummary | 'refused';
}

const FIRST = `
clusters: [{name: c, cluster: {server: "https://first"}}]
users: [{name: u, user: {token: first}}]
contexts: [{name: x, context: {cluster: c}}]
`;
const SECOND = `
apiVersion: v1
kind: Config
current-context: x
clusters:
- {name: c, cluster: {server: "https://second", certificate-authority: ca.pem}}
- {name: d, cluster: {server: "https://d", certificate-authority: deep/ca.pem}}
users:
- {name: u, user: {client-certificate: cert.pem}}
contexts:
- {name: x, context: {cluster: c, user: u}}
`;
const BESIDE = { 'sub/ca.pem': 'CA', 'sub/deep/ca.pem': 'deep CA', 'sub/cert.pem': 'cert' };
const NOTHING: KubeconfigSummary = { current: '', contexts: {}, clusters: {}, users: {} };
const OF_FIRST: KubeconfigSummary = {
  current: '',
  contexts: { x: 'c' },
  clusters: { c: 'https://first' },
  users: { u: 'first' },
};
const OF_SECOND: KubeconfigSummary = {
  current: 'x',
  contexts: { x: 'c u' },
  clusters: { c: 'https://second CA', d: 'https://d deep CA' },
  users: { u: 'cert' },
};
const current = (context: string): string => `current-context: "${context}"\n`;

export const KUBECONFIG_CASES: readonly KubeconfigCase[] = [
  {
    name: 'the first file that names an entry gives all of it',
    files: { a: FIRST, 'sub/b': SECOND, ...BESIDE },
    list: 'a:sub/b',
    want: { ...OF_FIRST, current: 'x', clusters: { c: 'https://first', d: 'https://d deep CA' } },
  },
  {
    name: 'relative paths are relative to the file that names them',
    files: { a: FIRST, 'sub/b': SECOND, ...BESIDE },
    list: 'sub/b:a',
    want: OF_SECOND,
  },
  {
    name: 'the first current-context that is not empty counts',
    files: { a: current(''), b: current('b'), c: current('c') },
    list: 'a:b:c',
    want: { ...NOTHING, current: 'b' },
  },
  { name: 'files that do not exist are skipped', files: { a: FIRST }, list: 'gone:a:none', want: OF_FIRST },
  { name: 'empty entries are skipped', files: { a: FIRST }, list: ':a::', want: OF_FIRST },
  { name: 'a file may occur twice', files: { a: FIRST }, list: 'a:a', want: OF_FIRST },
  {
    name: 'files with nothing in them add nothing',
    files: { a: '', b: '# nothing\n', c: '{}', d: FIRST },
    list: 'a:b:c:d',
    want: OF_FIRST,
  },
  {
    name: 'the usual file is read when the variable is not set',
    files: { 'home/.kube/config': FIRST },
    list: undefined,
    want: OF_FIRST,
  },
  {
    name: 'the usual file is read when the variable is empty',
    files: { 'home/.kube/config': FIRST },
    list: '',
    want: OF_FIRST,
  },
  {
    name: 'the usual file is not read when no named file exists',
    files: { 'home/.kube/config': FIRST },
    list: 'gone',
    want: NOTHING,
  },
  {
    name: 'the usual file is not read when all entries are empty',
    files: { 'home/.kube/config': FIRST },
    list: ':',
    want: NOTHING,
  },
  { name: 'nothing anywhere is an empty kubeconfig', files: {}, list: undefined, want: NOTHING },
  {
    name: 'an entry that says nothing hides a later one of its name',
    files: {
      a: 'clusters: [{name: c}]\nusers: [{name: u}]\ncontexts: [{name: x}]',
      'sub/b': SECOND,
      ...BESIDE,
    },
    list: 'a:sub/b',
    want: {
      current: 'x',
      contexts: { x: '' },
      clusters: { c: '', d: 'https://d deep CA' },
      users: { u: '' },
    },
  },
  {
    name: 'entries that lack what they need are no error where they are not used',
    files: { a: 'clusters: [{cluster: {server: "https://q"}}, {name: c}]\ncontexts: [{name: z}]' },
    list: 'a',
    want: { ...NOTHING, contexts: { z: '' }, clusters: { '': 'https://q', c: '' } },
  },
  {
    name: 'a name that occurs twice in a file is refused',
    files: {
      a: 'clusters: [{name: c, cluster: {server: "https://1"}}, {name: c, cluster: {server: "https://2"}}]',
    },
    list: 'a',
    want: 'refused',
  },
  {
    name: 'a number where text belongs is refused',
    files: { a: FIRST, b: 'users: [{name: other, user: {token: 12}}]' },
    list: 'a:b',
    want: 'refused',
  },
  { name: 'a list that is none is refused', files: { a: 'contexts: {}' }, list: 'a', want: 'refused' },
  { name: 'another kind is refused', files: { a: 'apiVersion: v1\nkind: Pod' }, list: 'a', want: 'refused' },
  {
    name: 'another version is refused',
    files: { a: 'apiVersion: v2\nkind: Config' },
    list: 'a',
    want: 'refused',
  },
  { name: 'plain text is refused', files: { a: FIRST, b: 'just text' }, list: 'a:b', want: 'refused' },
  { name: 'broken YAML is refused', files: { a: 'clusters: [', b: FIRST }, list: 'b:a', want: 'refused' },
  { name: 'a folder is refused', files: { a: FIRST, 'sub/b': SECOND }, list: 'a:sub', want: 'refused' },
  {
    name: 'a path through a file is refused',
    files: { a: FIRST, b: SECOND },
    list: 'a/x:b',
    want: 'refused',
  },
];
