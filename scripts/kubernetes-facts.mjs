// Writes the hub's two data files about Kubernetes' own kinds from published facts (structure and protobuf field numbers, no texts):
//   node scripts/kubernetes-facts.mjs DIR      (DIR holds kubernetes-api.json and protobuf-fields.json)
// Only what the kinds in src/hub/scheme/builtin/builtin-resources.ts reach is kept. The notation is explained where it is read:
// src/hub/scheme/builtin/builtin-schemas.ts and src/hub/proto/message-types.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const facts = process.argv[2];
if (facts === undefined) throw new Error('usage: node scripts/kubernetes-facts.mjs DIR');
const src = fileURLToPath(new URL('../src/hub/', import.meta.url));
const { schemas } = JSON.parse(readFileSync(join(facts, 'kubernetes-api.json'), 'utf8'));
const messages = JSON.parse(readFileSync(join(facts, 'protobuf-fields.json'), 'utf8'));

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
const roots = [...table.matchAll(/schema: '([^']+)'/g)].map((match) => match[1]);
const extra = ['machinery:apis.meta.v1.DeleteOptions', 'machinery:apis.meta.v1.Condition'];

// --- schemas
const out = {};
const typeText = (s) => {
  if (s.ref !== undefined) return visit(shorten(s.ref, SHORT));
  if (s.type === 'array') return `[]${typeText(s.items)}`;
  if (s.type === 'object' && s.additionalProperties !== undefined) return `{}${typeText(s.additionalProperties)}`;
  return s.format === undefined ? (s.type ?? 'any') : `${s.type}/${s.format}`;
};
const flagText = (s) => {
  const flags = [];
  const list = s['x-kubernetes-list-type'];
  if (list === 'map') flags.push(`map=${s['x-kubernetes-list-map-keys'].join(',')}`);
  else if (list === 'set' || (list === 'atomic' && s.type === 'array')) flags.push(list);
  if (s['x-kubernetes-map-type'] !== undefined) flags.push(s['x-kubernetes-map-type']);
  if (s['x-kubernetes-patch-strategy'] !== undefined) flags.push(`patch=${s['x-kubernetes-patch-strategy']}`);
  if (s['x-kubernetes-patch-merge-key'] !== undefined) flags.push(`key=${s['x-kubernetes-patch-merge-key']}`);
  const fallback = s.default;
  const empty = fallback === undefined || fallback === '' || fallback === 0 || fallback === false;
  if (!empty && JSON.stringify(fallback) !== '{}') flags.push(`default=${JSON.stringify(fallback)}`);
  return flags.length === 0 ? '' : ` ${flags.join(' ')}`;
};
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
    fields[required.has(key) ? `${key}!` : key] = typeText(value) + flagText(value);
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
    // Go embeds some structs: their fields stand in the parent's JSON object. They are the ones that the schema does not declare.
    const special = { ref: '$ref', schema: '$schema' }[field];
    const json = special !== undefined && name.endsWith('JSONSchemaProps') ? special : field.replace(/^xKubernetes(.)(.*)$/, (_, a, b) => `x-kubernetes-${(a + b).replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()}`);
    const inline = known !== undefined && known[json] === undefined && !SCALAR.test(resolved) && !/^(\[\]|\{\})/.test(resolved);
    result[number] = `${inline ? '*' : json} ${resolved}`;
  }
  return name;
}
for (const root of [...roots, ...extra]) if (protoByShort.has(root)) message(root);
writeFileSync(join(src, 'proto/kubernetes-messages.json'), lines(proto));
