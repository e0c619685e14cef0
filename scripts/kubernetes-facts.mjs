// Writes the hub's two data files about Kubernetes' own kinds from published facts (structure and protobuf field numbers, no texts)
// and from the Go modules of the same version, which say what is a pointer and what is left out of JSON when it is empty:
//   node scripts/kubernetes-facts.mjs DIR MODULES VERSION
// DIR contains kubernetes-api.json and protobuf-fields.json. MODULES is the folder k8s.io of Go's module cache, in which
// `go mod download k8s.io/MODULE@VERSION` has put api, apimachinery, apiextensions-apiserver and kube-aggregator.
// Only what the kinds in packages/kube/src/model/builtin-kinds.json reach is kept. The notation is explained where it is read:
// packages/embedded-hub/src/scheme/builtin/builtin-schemas.ts and packages/embedded-hub/src/proto/decode-protobuf.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goStructs, protoMessages } from './go-structs.mjs';

const [facts, modules, version] = process.argv.slice(2);
if (version === undefined) throw new Error('usage: node scripts/kubernetes-facts.mjs DIR MODULES VERSION');
const src = fileURLToPath(new URL('../packages/embedded-hub/src', import.meta.url));
const { schemas } = JSON.parse(readFileSync(join(facts, 'kubernetes-api.json'), 'utf8'));
// The facts do not name the messages of these groups.
const messages = {
  ...JSON.parse(readFileSync(join(facts, 'protobuf-fields.json'), 'utf8')),
  ...protoMessages('k8s.io.api.autoscaling.v2', join(modules, `api@${version}`, 'autoscaling/v2')),
  ...protoMessages('k8s.io.api.admissionregistration.v1', join(modules, `api@${version}`, 'admissionregistration/v1')),
};

const SHORT = [
  ['io.k8s.apimachinery.pkg.', 'machinery:'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.', 'extensions:'],
  ['io.k8s.kube-aggregator.pkg.apis.', 'aggregator:'],
  ['io.k8s.api.', ''],
];
const PROTO = [
  ['k8s.io.apimachinery.pkg.', 'machinery:'],
  ['k8s.io.apiextensions_apiserver.pkg.apis.', 'extensions:'],
  ['k8s.io.kube_aggregator.pkg.apis.', 'aggregator:'],
  ['k8s.io.api.', ''],
];
const shorten = (name, table) => {
  for (const [long, short] of table) if (name.startsWith(long)) return short + name.slice(long.length);
  return name;
};
const byShort = new Map(Object.keys(schemas).map((name) => [shorten(name, SHORT), schemas[name]]));
const protoByShort = new Map(Object.keys(messages).map((name) => [shorten(name, PROTO), messages[name]]));

const table = readFileSync(join(src, 'scheme/builtin/builtin-resources.ts'), 'utf8');
const named = [...table.matchAll(/schema: '([^']+)'/g)].map((match) => match[1]);
const kinds = JSON.parse(readFileSync(join(src, '../../kube/src/model/builtin-kinds.json'), 'utf8'));
const usual = kinds.map(({ group, version, kind }) => `${group === '' ? 'core' : group.replace(/\..*/, '')}.${version}.${kind}`);
const roots = [...named, ...usual.filter((name) => byShort.has(name))];
const extra = ['machinery:apis.meta.v1.DeleteOptions', 'machinery:apis.meta.v1.Condition'];

// --- Go types
const PACKAGES = [
  ['machinery:', 'apimachinery', 'pkg'],
  ['extensions:', 'apiextensions-apiserver', 'pkg/apis'],
  ['aggregator:', 'kube-aggregator', 'pkg/apis'],
  ['', 'api', ''],
];
const structs = new Map();
/** How Go stores a field: undefined for what is no field of a struct. */
function goField(name, field) {
  const [prefix, module, below] = PACKAGES.find(([start]) => name.startsWith(start));
  const parts = name.slice(prefix.length).split('.');
  const type = parts.pop();
  const dir = join(modules, `${module}@${version}`, below, ...parts);
  if (!structs.has(dir)) structs.set(dir, goStructs(dir));
  return structs.get(dir).get(type)?.find((one) => one.name === field);
}
function goFlags(name, field) {
  if (field === 'apiVersion' || field === 'kind') return goField(name, field) ?? { pointer: false, always: false, omitzero: false };
  const found = goField(name, field);
  if (found === undefined) throw new Error(`${name} has no field ${field} in Go`);
  return found;
}

// --- schemas
const out = {};
const typeText = (s) => {
  if (s.ref !== undefined) return visit(shorten(s.ref, SHORT));
  if (s.type === 'array') return `[]${typeText(s.items)}`;
  if (s.type === 'object' && s.additionalProperties !== undefined) return `{}${typeText(s.additionalProperties)}`;
  return s.format === undefined ? (s.type ?? 'any') : `${s.type}/${s.format}`;
};
const flagText = (s, go) => {
  const flags = [];
  const list = s['x-kubernetes-list-type'];
  if (list === 'map') flags.push(`map=${s['x-kubernetes-list-map-keys'].join(',')}`);
  else if (list === 'set' || (list === 'atomic' && s.type === 'array')) flags.push(list);
  if (s['x-kubernetes-map-type'] !== undefined) flags.push(s['x-kubernetes-map-type']);
  if (s['x-kubernetes-patch-strategy'] !== undefined) flags.push(`patch=${s['x-kubernetes-patch-strategy']}`);
  if (s['x-kubernetes-patch-merge-key'] !== undefined) flags.push(`key=${s['x-kubernetes-patch-merge-key']}`);
  const fallback = s.default;
  // Of a field that is always written, an empty default is its zero value.
  const zero = fallback === '' || fallback === 0 || fallback === false || JSON.stringify(fallback) === '{}';
  if (fallback !== undefined && (!zero || go.pointer || (!go.always && fallback === ''))) flags.push(`default=${JSON.stringify(fallback)}`);
  return flags.length === 0 ? '' : ` ${flags.join(' ')}`;
};
const presence = (go) => (go.pointer ? ' pointer' : '') + (go.always ? ' always' : '') + (go.omitzero ? ' omitzero' : '');
function visit(name) {
  if (out[name] !== undefined) return name;
  const s = byShort.get(name);
  if (s === undefined) throw new Error(`no schema ${name}`);
  const fields = {};
  out[name] = fields;
  const head = [];
  if (s['x-kubernetes-map-type'] !== undefined) head.push(s['x-kubernetes-map-type']);
  if (s.properties === undefined) head.push(s.oneOf !== undefined ? `oneOf=${s.oneOf.map((o) => o.type).join(',')}` : `type=${s.type ?? 'any'}`);
  if (s.format !== undefined) head.push(`format=${s.format}`);
  if (head.length > 0) fields[''] = head.join(' ');
  const required = new Set(s.required ?? []);
  for (const [key, value] of Object.entries(s.properties ?? {}))
    fields[required.has(key) ? `${key}!` : key] = typeText(value) + flagText(value, goFlags(name, key)) + presence(goFlags(name, key));
  return name;
}
for (const root of [...roots, ...extra]) visit(root);
const lines = (data) => `{\n${Object.keys(data).sort().map((k) => `${JSON.stringify(k)}: ${JSON.stringify(data[k])}`).join(',\n')}\n}\n`;
writeFileSync(join(src, 'scheme/builtin/kubernetes-schemas.json'), lines(out));

// --- protobuf messages
const proto = {};
const SCALAR = /^(string|bytes|bool|int32|int64|double)$/;
const resolve = (type, home) => {
  if (type.startsWith('[]')) return `[]${resolve(type.slice(2), home)}`;
  const map = /^map<string, (.+)>$/.exec(type);
  if (map !== null) return `{}${resolve(map[1], home)}`;
  if (SCALAR.test(type)) return type;
  const full = type.startsWith('.') ? type.slice(1) : `${home}.${type}`;
  return message(shorten(full, PROTO));
};
function message(name) {
  if (proto[name] !== undefined) return name;
  const fields = protoByShort.get(name);
  if (fields === undefined) throw new Error(`no message ${name}`);
  const home = Object.keys(messages).find((long) => shorten(long, PROTO) === name).replace(/\.[^.]+$/, '');
  const known = byShort.get(name)?.properties;
  const result = {};
  proto[name] = result;
  for (const [number, [field, type]] of Object.entries(fields)) {
    const resolved = resolve(type, home);
    // Go embeds some structs: their fields are in the parent's JSON object. They are the ones that the schema does not declare.
    const special = { ref: '$ref', schema: '$schema' }[field];
    const named = special !== undefined && name.endsWith('JSONSchemaProps') ? special : field.replace(/^xKubernetes(.)(.*)$/, (_, a, b) => `x-kubernetes-${(a + b).replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()}`);
    // `aPIGroup` and `uID` are `apiGroup` and `uid` in JSON.
    const json = Object.keys(known ?? {}).find((one) => one.toLowerCase() === named.toLowerCase()) ?? named;
    const inline = known !== undefined && known[json] === undefined && !SCALAR.test(resolved) && !/^(\[\]|\{\})/.test(resolved);
    const pointer = !inline && goField(name, json)?.pointer === true;
    result[number] = `${inline ? '*' : json} ${pointer ? '*' : ''}${resolved}`;
  }
  return name;
}
for (const root of [...roots, ...extra]) if (protoByShort.has(root)) message(root);
writeFileSync(join(src, 'proto/kubernetes-messages.json'), lines(proto));
