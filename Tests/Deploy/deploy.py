"""Holds the files in deploy/ against a real server. Run by Tests/Deploy/run."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

import yaml

import dashboard

perch, root, work = (pathlib.Path(path) for path in sys.argv[1:4])
deploy = root / "deploy"
checks = 0


def check(holds, what, *found):
    global checks
    checks += 1
    if not holds:
        print(f"deploy: {what}: FAILED", *found, sep="\n    ", file=sys.stderr)
        raise SystemExit(1)


def serve(*arguments, environment=None):
    """A server that says where it listens. Its environment is only what is given."""
    process = subprocess.Popen(
        [perch, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", *arguments], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, env=environment)
    said, address, http = [], None, None
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"perch: serving on (\S+)", line):
            address = found[1]
        if found := re.search(r"^  http: (\S+)", line):
            http = found[1]
        if address and http:
            return process, address, http
    raise SystemExit(f"deploy: the server ended: {''.join(said)}")


def end(process):
    process.terminate()
    process.stderr.read()
    check(process.wait(300) == 0, "the server ends well")


def page(http, path):
    try:
        with urllib.request.urlopen(f"http://{http}{path}", timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def names(expression):
    """The metrics that a query names: words that are no function, label or keyword of PromQL."""
    bare = re.sub(r'"[^"]*"', "", expression)
    bare = re.sub(r"\b(by|on|without|group_right|group_left|ignoring)\s*\([^)]*\)", "", bare)
    bare = re.sub(r"\{[^}]*\}", "", bare)
    return set(re.findall(r"\b(?:perch|process)_\w+", bare))


def metrics(http):
    status, text = page(http, "/metrics")
    check(status == 200, "/metrics answers")
    series = set(re.findall(r"^([a-z_]+)(?:\{| )", text, re.MULTILINE))
    labels = {name: set(re.findall(r'(\w+)="', text)) for name in series}
    return series, labels


def alerts_and_dashboard():
    store = work / "store"
    process, _, http = serve("--catalog", str(deploy / "sample.storekit"), "--store", str(store))
    known, _ = metrics(http)
    status, index = page(http, "/")
    for path in ("/metrics", "/healthz", "/readyz", "/status"):
        check(status == 200 and path in index, f"/ is an index that names {path}", index)

    rules = yaml.safe_load((deploy / "prometheus-rules.yml").read_text())
    alerts = [rule for group in rules["groups"] for rule in group["rules"]]
    readme = (deploy / "README.md").read_text()
    for alert in alerts:
        unknown = names(alert["expr"]) - known
        check(not unknown, f"{alert['alert']} asks for metrics that the server has", unknown)
        check(alert["labels"]["severity"] in ("page", "ticket"), f"{alert['alert']} has a severity")
        check({"summary", "description"} <= set(alert["annotations"]), f"{alert['alert']} says what to do")
        check(f"`{alert['alert']}`" in readme, f"deploy/README.md explains {alert['alert']}")
    told = set(re.findall(r"`(Perch[A-Z]\w+)`", readme))
    check(told == {alert["alert"] for alert in alerts}, "deploy/README.md explains alerts that there are", told)

    written = (deploy / "grafana-dashboard.json").read_text()
    check(written == dashboard.text(), "the dashboard is that of Tests/Deploy/dashboard.py: run it")
    board = json.loads(written)
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    check(len(queries) >= 20, "the dashboard has queries", len(queries))
    for query in queries:
        check(names(query) and not names(query) - known, "the dashboard asks for metrics that the server has", query,
              names(query) - known)
    ids = [panel["id"] for panel in board["panels"]]
    check(len(ids) == len(set(ids)), "each panel has a number of its own")

    scrape = yaml.safe_load((deploy / "prometheus.yml").read_text())
    check((deploy / scrape["rule_files"][0]).is_file(), "the configuration of Prometheus names the rules")
    end(process)


def settings_of(environment):
    """Whether a server knows each setting."""
    listing = subprocess.run([perch, "serve", "--show-config"], env=environment, capture_output=True, text=True)
    check("no setting" not in listing.stderr and " is \"" not in listing.stderr,
          "a server knows the settings of the manifest", listing.stderr)
    for name in environment:
        setting = name.removeprefix("PERCH_").lower().replace("_", "-")
        check(f"# environment, {name}" in listing.stdout, f"{setting} counts", listing.stdout)


def kubernetes():
    text = (deploy / "kubernetes.yaml").read_text()
    objects = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(text)}
    check(set(objects) == {("Service", "perch"), ("Service", "perch-metrics"), ("StatefulSet", "perch")},
          "the manifest has two services and a stateful set", set(objects))
    stateful = objects["StatefulSet", "perch"]["spec"]
    pod = stateful["template"]["spec"]
    check(stateful["replicas"] == 1, "a store has one server")
    labels = stateful["template"]["metadata"]["labels"]
    check(stateful["selector"]["matchLabels"] == labels, "the set selects its pod")
    container = pod["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for service in ("perch", "perch-metrics"):
        spec = objects["Service", service]["spec"]
        check(spec["selector"].items() <= labels.items(), f"the service {service} selects the pod")
        check(all(port["targetPort"] in ports for port in spec["ports"]), f"the ports of {service} are the pod's")
    check(stateful["serviceName"] == "perch-metrics", "the set names its headless service")
    for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        check(container[probe]["httpGet"] == {"path": path, "port": "http"}, f"{probe} asks for {path}")
    environment = {entry["name"]: entry["value"] for entry in container["env"]}
    check(all(isinstance(value, str) for value in environment.values()), "values of the environment are texts")
    settings_of(environment)
    check(environment["PERCH_LISTEN"].endswith(f":{ports['perch']}"), "it listens on the port that is named")
    check(environment["PERCH_HTTP"].endswith(f":{ports['http']}"), "so it does for HTTP")
    volumes = {volume["name"] for volume in pod["volumes"]}
    volumes |= {claim["metadata"]["name"] for claim in stateful["volumeClaimTemplates"]}
    for each in pod["initContainers"] + pod["containers"]:
        check({mount["name"] for mount in each["volumeMounts"]} <= volumes, "each mount has a volume")
        check(each["securityContext"]["readOnlyRootFilesystem"], "its root is read-only")
    mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
    for name in ("PERCH_STORE", "PERCH_CATALOG", "PERCH_TLS_CERTIFICATE", "PERCH_TLS_KEY", "PERCH_TOKEN_KEYS"):
        check(any(environment[name].startswith(mount + "/") for mount in mounts), f"{name} lies in a volume")
    unit = (deploy / "perch.service").read_text()
    stop = int(re.search(r"TimeoutStopSec=(\d+)", unit)[1])
    check(pod["terminationGracePeriodSeconds"] == stop, "it has as long to stop as under systemd")
    named = set(re.findall(r"kubectl create (?:secret generic|configmap) (\S+)", text))
    used = {volume[kind][key] for volume in pod["volumes"]
            for kind, key in (("secret", "secretName"), ("configMap", "name")) if kind in volume}
    check(named == used, "the commands above the manifest create what it uses", named ^ used)


def compose():
    service = yaml.safe_load((deploy / "compose.yaml").read_text())["services"]["perch"]
    settings_of(service["environment"])
    check("7447:7447" in service["ports"], "the port is published")
    targets = [volume.split(":")[1] for volume in service["volumes"]]
    for name in ("PERCH_CATALOG", "PERCH_TLS_CERTIFICATE", "PERCH_TLS_KEY", "PERCH_TOKEN_KEYS"):
        check(service["environment"][name] in targets, f"{name} is mounted")
    image = (deploy / "Dockerfile").read_text()
    for word in ("HEALTHCHECK", "EXPOSE 7447 7448", "USER 65532:65532"):
        check(word in image, f"the image has {word}")
    check(f"PERCH_HTTP={'on'}" in image, "the health check has something to ask")


def images():
    """Each image has a digest, or a name that an operator can replace by one as the page says."""
    readme = (deploy / "README.md").read_text()
    for file in [deploy / "Dockerfile", *sorted(deploy.glob("*.yaml"))]:
        for name in re.findall(r"^(?:FROM| *-? *image:) +(\S+)", file.read_text(), re.MULTILINE):
            variable = re.match(r"\$\{(\w+)(:-[^}]+)?\}$", name)
            check("@sha256:" in name or variable and f"{variable[1]}=" in readme
                  or name == "perch" and "kubernetes" in file.name and "kubectl set image" in readme,
                  f"{file.name}: the image {name} can be pinned by digest")
            if variable and not variable[2]:
                check(f"ARG {variable[1]}=" in file.read_text(), f"{file.name}: {variable[1]} has a default")


def health_check():
    """The command of the image, against a server on the image's own port."""
    image = (deploy / "Dockerfile").read_text()
    command = json.loads(re.search(r"^    CMD (\[.*\])$", image, re.MULTILINE)[1])
    process, _, http = serve("--catalog", str(deploy / "sample.storekit"), "--store", "memory")
    port = http.rsplit(":", 1)[1]
    command = [word.replace("/7448", f"/{port}") for word in command]
    check(subprocess.run(command, capture_output=True).returncode == 0, "the health check of the image succeeds")
    end(process)
    check(subprocess.run(command, capture_output=True).returncode != 0, "and fails where no server is")


def secrets():
    """The script, and what the compose file makes of it: TLS, a token, the links of Kubernetes."""
    directory = work / "secrets"
    script = [deploy / "make-secrets", directory, "perch.example.com"]
    environment = {"PATH": os.environ["PATH"], "PERCH": str(perch)}
    made = subprocess.run(script, env=environment, capture_output=True, text=True)
    check(made.returncode == 0, "the script makes secrets", made.stdout, made.stderr)
    check(subprocess.run(script, env=environment, capture_output=True).returncode == 1, "and overwrites none")
    links = {
        "PERCH_PORT": "tcp://10.0.0.1:7447", "PERCH_SERVICE_HOST": "10.0.0.1", "PERCH_SERVICE_PORT": "7447",
        "PERCH_PORT_7447_TCP": "tcp://10.0.0.1:7447", "PERCH_PORT_7447_TCP_ADDR": "10.0.0.1",
        "PERCH_METRICS_SERVICE_HOST": "10.0.0.2", "PERCH_HTTP_PORT": "tcp://10.0.0.2:7448",
    }
    process, address, http = serve(
        "--catalog", str(deploy / "sample.storekit"), "--store", "memory", "--tls-certificate",
        str(directory / "certificate.pem"), "--tls-key", str(directory / "key.pem"), "--token-keys",
        str(directory / "main.pub.jwk"), environment=links)
    ask = [perch, "get", "apps", "--server", address]
    asked = subprocess.run(
        ask + ["--tls-ca", directory / "ca.pem", "--credentials-file", directory / "admin.token"], capture_output=True,
        text=True, env=links)
    check(asked.returncode == 0 and "com.example.app" in asked.stdout, "an administrator is answered over TLS",
          asked.stdout, asked.stderr)
    plain = subprocess.run(ask, capture_output=True, text=True, env={})
    check(plain.returncode == 2 and "--tls-ca FILE" in plain.stderr, "plaintext is told to give the authority",
          plain.stderr)
    check(page(http, "/healthz")[0] == 200, "it is healthy")
    end(process)
    shutil.rmtree(directory)


for step in (alerts_and_dashboard, kubernetes, compose, images, health_check, secrets):
    step()
print(f"deploy: {checks} checks passed")
