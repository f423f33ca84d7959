"""Holds the files in deploy/ against a real server. Run by Tests/Deploy/run."""
import json
import os
import re
import shutil
import subprocess
import sys

import yaml

import dashboard
from server import Server
from trial import PERCH, ROOT, SAMPLE, WORK
from waiting import PATIENCE_SECONDS, until

deploy = ROOT / "deploy"
checks = 0


def check(holds, what, *found):
    global checks
    checks += 1
    if not holds:
        print(f"deploy: {what}: FAILED", *found, sep="\n    ", file=sys.stderr)
        raise SystemExit(1)


def serve(*arguments, store="memory", environment=None):
    """A server that serves. Its environment is only what is given."""
    variables = {} if environment is None else dict.fromkeys(os.environ) | environment
    server = Server(PERCH, SAMPLE, store, WORK / "server.log", *arguments, http=True, time_rate=None, variables=variables)
    server.start()
    return server


def end(server):
    check(server.stop() == 0, "the server ends well")


def names(expression):
    """The metrics that a query names: words that are no function, label or keyword of PromQL."""
    bare = re.sub(r'"[^"]*"', "", expression)
    bare = re.sub(r"\b(by|on|without|group_right|group_left|ignoring)\s*\([^)]*\)", "", bare)
    bare = re.sub(r"\{[^}]*\}", "", bare)
    return set(re.findall(r"\b(?:perch|process)_\w+", bare))


def text_of(server, path):
    """The text of a page. Where a thread of the server waits for a core for a second, it is 503, and asked for again."""
    return until(lambda: (page := server.page(path))[0] == 200 and page, lambda: f"{path} is 200; it is {server.page(path)}")[1]


def metrics(server):
    text = text_of(server, "/metrics")
    series = set(re.findall(r"^([a-z_]+)(?:\{| )", text, re.MULTILINE))
    labels = {name: set(re.findall(r'(\w+)="', text)) for name in series}
    return series, labels


def alerts_and_dashboard():
    server = serve(store=WORK / "store")
    known, _ = metrics(server)
    status, index = server.page("/")
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
    end(server)


def settings_of(environment):
    """Whether a server knows each setting."""
    listing = subprocess.run([PERCH, "serve", "--show-config"], env=environment, capture_output=True, text=True)
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
    server = serve()
    command = [word.replace("/7448", f"/{server.http_port}") for word in command]
    until(lambda: subprocess.run(command, capture_output=True).returncode == 0, "the health check of the image succeeds")
    end(server)
    check(subprocess.run(command, capture_output=True).returncode != 0, "and fails where no server is")


def secrets():
    """The script, and what the compose file makes of it: TLS, a token, the links of Kubernetes."""
    directory = WORK / "secrets"
    script = [deploy / "make-secrets", directory, "perch.example.com"]
    environment = {"PATH": os.environ["PATH"], "PERCH": str(PERCH)}
    made = subprocess.run(script, env=environment, capture_output=True, text=True)
    check(made.returncode == 0, "the script makes secrets", made.stdout, made.stderr)
    check(subprocess.run(script, env=environment, capture_output=True).returncode == 1, "and overwrites none")
    links = {
        "PERCH_PORT": "tcp://10.0.0.1:7447", "PERCH_SERVICE_HOST": "10.0.0.1", "PERCH_SERVICE_PORT": "7447",
        "PERCH_PORT_7447_TCP": "tcp://10.0.0.1:7447", "PERCH_PORT_7447_TCP_ADDR": "10.0.0.1",
        "PERCH_METRICS_SERVICE_HOST": "10.0.0.2", "PERCH_HTTP_PORT": "tcp://10.0.0.2:7448",
    }
    server = serve("--tls-certificate", directory / "certificate.pem", "--tls-key", directory / "key.pem", "--token-keys",
                   directory / "main.pub.jwk", environment=links)
    ask = [PERCH, "get", "apps", "--server", "127.0.0.1:%d" % server.port, "--timeout", f"{PATIENCE_SECONDS}s"]
    asked = subprocess.run(
        ask + ["--tls-ca", directory / "ca.pem", "--credentials-file", directory / "admin.token"], capture_output=True,
        text=True, env=links)
    check(asked.returncode == 0 and "com.example.app" in asked.stdout, "an administrator is answered over TLS",
          asked.stdout, asked.stderr)
    plain = subprocess.run(ask, capture_output=True, text=True, env={})
    check(plain.returncode == 2 and "--tls-ca FILE" in plain.stderr, "plaintext is told to give the authority",
          plain.stderr)
    text_of(server, "/healthz")
    end(server)
    shutil.rmtree(directory)


for step in (alerts_and_dashboard, kubernetes, compose, images, health_check, secrets):
    step()
print(f"deploy: {checks} checks passed")
